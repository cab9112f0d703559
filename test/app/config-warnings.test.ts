import { describe, expect, it } from 'vitest';
import { configWarnings, logConfigWarnings } from '../../src/app/config-warnings.js';
import { parseConfig } from '../../src/config/parse.js';
import { defineDerive } from '../../src/handlers/derive.js';
import { silentLog } from '../../src/runtime/log.js';

const LISTS = ['people', 'organization', 'memo', 'todo', 'history', 'activity'];
const off = (...lists: string[]): object => Object.fromEntries(lists.map((list) => [list, { enabled: false }]));
const workspace = (name = 'acme', more: object = {}): object => ({ name, baseUrl: 'http://h', token: 'tok', ...more });
const acme = (lists: object, more: object = {}): object => ({ workspaces: [workspace('acme', { lists, ...more })] });

interface Given {
  derive?: unknown[];
  [section: string]: unknown;
}

/** The warnings about a subscription with these options. */
function warningsOf(options: object, given: Given = {}): { reason: string; remedy: string }[] {
  const subscriptions = [{ handler: 'ndjson', name: 's', ...options }];
  const config = parseConfig({ ...acme({}), ...given, subscriptions }, { source: 'the test' });
  const found = configWarnings(config).filter(({ subject }) => Object.values(subject).join() === 's');
  return found.map(({ reason, remedy }) => ({ reason, remedy }));
}

const promoted = (more: object = {}): unknown =>
  defineDerive({
    name: 'promote',
    emits: ['acme.person.promoted'],
    on: ['crm.person.updated'],
    derive: () => null,
    ...more,
  });

describe('config warnings: a subscription that can never match', () => {
  it.each<[string, object, string, Given?]>([
    [
      'its lists exclude its types',
      { on: ['crm.todo.completed'], lists: ['people'] },
      'nothing that its on selects (crm.todo.completed) passes its lists (people)',
    ],
    [
      'its class excludes its types',
      { on: ['crm.*.created'], class: 'refreshed' },
      'nothing that its on selects (crm.*.created) passes its class (refreshed)',
    ],
    [
      'its fields name only the timestamp, which is not compared',
      { on: ['crm.person.updated'], fields: ['수정 날짜'] },
      'nothing that its on selects (crm.person.updated) passes its fields (수정 날짜)',
    ],
    [
      'its fields name only what the rules of the list leave out',
      { on: ['crm.person.updated'], fields: ['이메일'] },
      'nothing that its on selects (crm.person.updated) passes its fields (이메일)',
      acme({ people: { ignore: ['이메일'] } }) as Given,
    ],
    [
      'its class and its fields exclude each other',
      { on: ['crm.person.updated'], class: 'refreshed', fields: ['이름'] },
      'nothing that its on selects (crm.person.updated) passes its class (refreshed)',
    ],
    [
      'its list is disabled in its only workspace',
      { on: ['crm.todo.completed', 'crm.todo.overdue'] },
      'nothing it selects is emitted: the list "todo" is disabled in acme',
      acme(off('todo')) as Given,
    ],
    [
      'its list is disabled in the workspaces it names, and enabled in another',
      { on: ['crm.memo.*'], workspaces: ['acme'] },
      'nothing it selects is emitted: the list "memo" is disabled in acme',
      { workspaces: [workspace('acme', { lists: off('memo') }), workspace('beta')] },
    ],
    [
      'todos are not watched',
      { on: ['crm.todo.overdue'] },
      'nothing it selects is emitted: todos.watch is false in acme',
      acme({}, { todos: { watch: false } }) as Given,
    ],
    [
      'each workspace has its own reason',
      { on: ['crm.todo.completed'] },
      'nothing it selects is emitted: the list "todo" is disabled in acme; todos.watch is false in beta',
      { workspaces: [workspace('acme', { lists: off('todo') }), workspace('beta', { todos: { watch: false } })] },
    ],
    [
      'the fields that yield its type are not compared',
      { on: ['crm.todo.rescheduled'] },
      'nothing it selects is emitted: the list "todo" does not compare 마지막 날짜, 종료일 in acme',
      acme({ todo: { only: ['내용'] } }) as Given,
    ],
    [
      'the previous person in charge is not stored',
      { on: ['crm.todo.reassigned'] },
      'nothing it selects is emitted: the list "todo" is kept without images, so the previous person in charge is unknown in acme',
      acme({ todo: { images: false } }) as Given,
    ],
    [
      'no field of the list counts as kept by the system',
      { on: ['crm.memo.updated'], class: 'refreshed' },
      'nothing it selects is emitted: no compared field of the list "memo" counts as kept by the system in acme',
    ],
    [
      'the baseline is quiet',
      { on: ['crm.person.snapshot'] },
      'nothing it selects is emitted: the baseline of the list "people" emits no snapshot in acme',
    ],
    [
      'changes of the schema are not collapsed',
      { on: ['crm.person.schema_changed'] },
      'nothing it selects is emitted: lists.people.collapse is false in acme',
      acme({ people: { collapse: false } }) as Given,
    ],
    [
      'the derive function that emits its type receives no event',
      { on: ['acme.person.promoted'] },
      'nothing it selects is emitted: the list "people" is disabled in acme',
      { ...acme(off('people')), derive: [promoted()] },
    ],
  ])('config warnings: %s', (_what, options, reason, given = {}) => {
    expect(warningsOf(options, given).map((warning) => warning.reason)).toEqual([reason]);
  });

  it.each<[string, object, Given?]>([
    ['the default', {}],
    ['one of its lists is enabled', { on: ['crm.*.created'] }, acme(off(...LISTS.slice(1))) as Given],
    [
      'one of its workspaces polls its list',
      { on: ['crm.memo.*'] },
      { workspaces: [workspace('acme', { lists: off('memo') }), workspace('beta')] },
    ],
    ['rows of a list that only grows may still change', { on: ['crm.deal_history.updated'] }],
    ['created passes whatever fields it names', { on: ['crm.person.*'], fields: ['수정 날짜'] }],
    ['its fields name a custom field of the workspace', { on: ['crm.person.updated'], fields: ['등급'] }],
    [
      'a pattern that only fields kept by the system match',
      { on: ['crm.person.updated'], fields: ['최근*'], class: 'refreshed' },
    ],
    [
      'a field kept by the system that changes together with another',
      { on: ['crm.person.updated'], fields: ['딜 개수'], class: 'edited' },
    ],
    [
      'refreshed names fields of the list',
      { on: ['crm.memo.updated'], class: 'refreshed' },
      acme({ memo: { refreshed: ['count*'] } }) as Given,
    ],
    [
      'a changed timestamp alone is an event',
      { on: ['crm.memo.updated'], class: 'refreshed' },
      acme({ memo: { touch: true } }) as Given,
    ],
    ['a todo that is new and done', { on: ['crm.todo.completed'] }, acme({ todo: { only: ['내용'] } }) as Given],
    ['it begins with a snapshot', { on: ['crm.person.snapshot'], start: 'snapshot' }],
    ['the baseline is emitted', { on: ['crm.person.snapshot'] }, acme({ people: { baseline: 'emit' } }) as Given],
    ['a derive function emits its type', { on: ['acme.person.promoted'], lists: ['people'] }, { derive: [promoted()] }],
    ['it has a where, whose result depends on the events', { where: { 'data.after.등급': 'never' } }],
  ])('config warnings: none where %s', (_what, options, given = {}) => {
    expect(warningsOf(options, given)).toEqual([]);
  });

  it('config warnings: a derive function that can never match is named too, with a remedy', () => {
    const given = { ...acme(off('people'), { todos: { watch: false } }), derive: [promoted()] };
    expect(configWarnings(parseConfig(given, { source: 'the test' }))).toEqual([
      {
        about: 'subscription',
        subject: { subscription: 'promote' },
        reason: 'nothing it selects is emitted: the list "people" is disabled in acme',
        remedy: 'set lists.people.enabled to true',
      },
    ]);
  });
});

describe('config warnings: a list that is needed and not polled', () => {
  const about = (config: object): string[] =>
    configWarnings(parseConfig(config, { source: 'the test' })).map(
      ({ about: kind, subject, reason }) => `${kind} ${Object.values(subject).join()}: ${reason}`,
    );

  it.each<[string, object, string[]]>([
    ['nothing is wrong', { ...acme({}), serve: { token: 'mirror-token' } }, []],
    [
      'no list is enabled',
      acme(off(...LISTS), { todos: { watch: false } }),
      ['polling acme: every list of the workspace is disabled'],
    ],
    [
      'the mirror serves a workspace without some of its lists',
      { ...acme({ ...off('memo', 'history'), people: { images: false } }), serve: { token: 'mirror-token' } },
      ['mirror acme: lists that the mirror does not have (memo, history: disabled; people: kept without images)'],
    ],
    ['nothing is served', acme(off('memo')), []],
    [
      'todos are watched and disabled',
      acme(off('todo')),
      ['todos acme: todos.watch is on, and the list "todo" is disabled'],
    ],
    [
      'todos are watched and kept without images',
      acme({ todo: { images: false } }),
      [
        'todos acme: todos.watch is on, and the list "todo" is kept without images: todos cannot be counted, and crm.todo.reassigned is never emitted',
      ],
    ],
  ])('config warnings: %s', (_what, config, expected) => {
    expect(about(config)).toEqual(expected);
  });

  it('config warnings: only the requested kinds are logged, as a short message with facts', () => {
    const lines: [object, string][] = [];
    const log = { ...silentLog, warn: (facts: object, message: string) => void lines.push([facts, message]) };
    const config = parseConfig(acme(off(...LISTS), { todos: { watch: false } }), { source: 'the test' });
    logConfigWarnings(log, config, ['mirror']);
    expect(lines).toEqual([]);
    logConfigWarnings(log, config);
    const remedy = 'enable a list, or take the workspace out of the configuration';
    expect(lines).toEqual([
      [{ workspace: 'acme', reason: 'every list of the workspace is disabled', remedy }, 'workspace is not polled'],
    ]);
  });
});
