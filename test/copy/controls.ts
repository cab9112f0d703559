/** Safeguards, each with what the source says in its place when it is switched off: then histories must fail. */
type Edit = readonly [file: string, from: string, to: string];

export const CONTROLS: Readonly<Record<string, readonly Edit[]>> = {
  'a list as it was has the values that it has now': [
    [
      'src/feed/detect/undo.ts',
      "return undo.was === 'whole' ? undo.record : { ...record, ...undo.fields };",
      "return undo.was === 'whole' ? undo.record : { ...undo.fields, ...record };",
    ],
  ],
  'a snapshot is complete although records are held or cannot be read': [
    [
      'src/feed/store/snapshot-source.ts',
      `return readiness === 'ready' && held === 0 && unreadable.length === 0;`,
      `return readiness === 'ready' && (held >= 0 || unreadable.length >= 0);`,
    ],
  ],
  'a snapshot is complete although an event of it was not delivered': [
    [
      'src/delivery/act/snapshot-end.ts',
      'const isDelivered = dead.length + dropped.length === 0;',
      'const isDelivered = true;',
    ],
  ],
  'a snapshot takes any sweep for one since Redis went back': [
    ['src/feed/store/snapshot-source.ts', 'epoch >= least', 'epoch >= 0 * least'],
  ],
  'a subscription whose offset is lost reads the log from its beginning': [
    [
      'src/delivery/run/reader.ts',
      'return (await offsets.begin(workspace, subscription.name, this.#offset)) ?? this.#offset;',
      'return (await offsets.begin(workspace, subscription.name, BEFORE_ALL)) ?? this.#offset;',
    ],
  ],
  'a snapshot leaves out what is gone': [
    [
      'src/feed/store/snapshot-source.ts',
      'if (least === undefined || sequence <= least || gone.dropped === true)',
      'if (gone !== null)',
    ],
  ],
  'a discarded removal stays in its list': [
    [
      'src/feed/detect/record-state.ts',
      'return stored !== null && stored.gone === undefined && stored.discarded === undefined;',
      'return stored !== null && stored.gone === undefined;',
    ],
    [
      'src/feed/list/removals.ts',
      'image: state?.image ?? null }), event: null, timers }',
      'image: state?.image ?? null }), event: null, timers: [] }',
    ],
  ],
  'the guard on new records does not count those that were reported since the last sweep': [
    [
      'src/feed/list/creations.ts',
      'return guard.reported + fresh + onPage;',
      'return guard.reported + 0 * fresh + onPage;',
    ],
  ],
  'an id that begins as the key of a row without an id is taken for one': [
    [
      'src/feed/detect/identity.ts',
      `return ids === 'optional' && KEY_OF_CONTENT.test(key);`,
      'return ids === undefined || key.startsWith(CONTENT);',
    ],
  ],
  'what a rule was sending when it was switched off is sent when it is switched on': [
    [
      'src/delivery/dispatcher.ts',
      [
        'await skipSubscription({}, deps);',
        '}',
        '',
        '/** A place that stays would be that of a backup: what was logged before it is switched on again would be sent once that is restored. */',
        'async function dropFormer(deps: SubscriptionContext): Promise<void> {',
        '  await skipSubscription({}, deps);',
      ].join('\n'),
      'void deps; }\nasync function dropFormer(deps: SubscriptionContext): Promise<void> {',
    ],
  ],
  'a rule that is switched off keeps its place in the log': [
    [
      'src/delivery/dispatcher.ts',
      'for (const workspace of workspaces) await offsets.forget(workspace, subscription.name);',
      'void [workspaces, offsets, subscription];',
    ],
  ],
  'a record is gone although it may be a row without an id that can be read': [
    ['src/feed/detect/removal.ts', 'unnamed > (entry.unnamed ?? 0);', 'unnamed > Infinity;'],
  ],
  'a discarded removal that a snapshot has said is gone comes back without an event': [
    [
      'src/feed/detect/detect.ts',
      '(stored.discardedAfter ?? 0) < (input.snapshots ?? 0);',
      'input.snapshots === null;',
    ],
  ],
  'what a person accepted passes in another list too': [
    ['src/feed/list/creations.ts', `held.why !== 'replaced' && `, `held.count < 0 && `],
  ],
};

/** A plugin of Vite that switches one off. */
export function without(name: string) {
  const edits = CONTROLS[name];
  if (edits === undefined) throw new Error(`COPY_WITHOUT is none of: ${Object.keys(CONTROLS).join(', ')}`);
  return {
    name: 'without a safeguard',
    enforce: 'pre' as const,
    transform(code: string, id: string): string | null {
      const [file = '', from = '', to = ''] = edits.find(([one]) => id.endsWith(`/${one}`)) ?? [];
      if (!code.includes(from))
        throw new Error(`${file} does not say "${from}" any more: change test/copy/controls.ts`);
      return file === '' ? null : code.replace(from, to);
    },
  };
}
