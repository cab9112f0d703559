/** Safeguards, each with what the source says in its place when it is switched off: then histories must fail. */
export const CONTROLS: Readonly<Record<string, { file: string; from: string; to: string }>> = {
  'a snapshot is complete although records are held or cannot be read': {
    file: 'src/delivery/snapshot-end.ts',
    from: `if (!isWhole(condition)) return 'waits';`,
    to: '',
  },
  'a snapshot is complete although an event of it was not delivered': {
    file: 'src/delivery/snapshot-end.ts',
    from: 'const isDelivered = dead.length + dropped.length === 0;',
    to: 'const isDelivered = true;',
  },
  'a snapshot leaves out what is gone': {
    file: 'src/feed/store/snapshot-source.ts',
    from: 'if (least === undefined || sequence <= least || gone.dropped === true)',
    to: 'if (gone !== null)',
  },
  'a discarded removal stays in its list': {
    file: 'src/feed/detect/record-state.ts',
    from: 'return stored !== null && stored.gone === undefined && stored.discarded === undefined;',
    to: 'return stored !== null && stored.gone === undefined;',
  },
  'the guard on new records does not count those that were reported since the last sweep': {
    file: 'src/feed/list/creations.ts',
    from: 'return guard.reported + fresh + onPage;',
    to: 'return guard.reported + 0 * fresh + onPage;',
  },
  'an id that begins as the key of a row without an id is taken for one': {
    file: 'src/feed/detect/identity.ts',
    from: `return ids === 'optional' && KEY_OF_CONTENT.test(key);`,
    to: `return ids === undefined || key.startsWith(CONTENT);`,
  },
  'what a rule was sending when it was switched off is sent when it is switched on': {
    file: 'src/delivery/dispatcher.ts',
    from: 'await skipSubscription({}, { ...deps, subscription, queue: queues.former(subscription.name) });',
    to: 'void queues;',
  },
};

/** A plugin of Vite that switches one off. */
export function without(name: string) {
  const control = CONTROLS[name];
  if (control === undefined) throw new Error(`COPY_WITHOUT is none of: ${Object.keys(CONTROLS).join(', ')}`);
  const { file, from, to } = control;
  return {
    name: 'without a safeguard',
    enforce: 'pre' as const,
    transform(code: string, id: string): string | null {
      if (!id.endsWith(`/${file}`)) return null;
      if (!code.includes(from))
        throw new Error(`${file} does not say "${from}" any more: change test/copy/controls.ts`);
      return code.replace(from, to);
    },
  };
}
