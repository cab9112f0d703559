import { describe, expect, it } from 'vitest';
import { clearWarnings, configWarnings, logConfigWarnings } from '../../src/service/config-warnings.js';
import { parseConfig } from '../../src/config/parse.js';
import { heardLog } from '../support/heard-log.js';

const LISTS = ['people', 'organization', 'memo', 'todo', 'history', 'activity'];
const off = (...lists: string[]): object => Object.fromEntries(lists.map((list) => [list, { enabled: false }]));
const workspace = (name = 'acme', more: object = {}): object => ({ name, baseUrl: 'http://h', token: 'tok', ...more });
const acme = (lists: object, more: object = {}): object => ({ workspaces: [workspace('acme', { lists, ...more })] });

type Given = Record<string, unknown>;

function warningsOf(options: object, given: Given = {}): { reason: string; remedy: string }[] {
  const subscriptions = [{ handler: 'ndjson', name: 's', ...options }];
  const config = parseConfig({ ...acme({}), ...given, subscriptions }, { source: 'the test' });
  const found = configWarnings(config).filter(({ subject }) => Object.values(subject).join() === 's');
  return found.map(({ reason, remedy }) => ({ reason, remedy }));
}

describe('config warnings: a subscription that can never match', () => {
  it.each<[string, object, string, Given?]>([
    [
      'its lists have none of its types',
      { on: ['crm.todo.completed'], lists: ['people'] },
      'nothing that its on selects (crm.todo.completed) exists in its lists (people)',
    ],
    [
      "its lists exclude the feed's own events",
      { on: ['changefeed.*'], lists: ['people'] },
      'nothing that its on selects (changefeed.*) exists in its lists (people)',
    ],
    [
      'its workspace does not have the list',
      { on: ['crm.deal.updated'], workspaces: ['beta'] },
      'nothing that its on selects (crm.deal.updated) exists in its workspaces (beta)',
      { workspaces: [workspace('acme', { lists: { deal: { path: 'deal' } } }), workspace('beta')] },
    ],
    [
      'its list is disabled in the workspaces it names, and enabled in another',
      { on: ['crm.memo.*'], workspaces: ['acme'] },
      'these lists are disabled: "memo" in acme',
      { workspaces: [workspace('acme', { lists: off('memo') }), workspace('beta')] },
    ],
  ])('config warnings: %s', (_what, options, reason, given = {}) => {
    expect(warningsOf(options, given).map((warning) => warning.reason)).toEqual([reason]);
  });

  it.each<[string, object, Given?]>([
    ["the feed's own events", { on: ['changefeed.*'] }],
    ["the feed's own events of a feed that polls nothing", { on: ['changefeed.*'] }, acme(off(...LISTS)) as Given],
    ['one of its lists is enabled', { on: ['crm.*.created'] }, acme(off(...LISTS.slice(1))) as Given],
    [
      'one of its workspaces polls its list',
      { on: ['crm.memo.*'] },
      { workspaces: [workspace('acme', { lists: off('memo') }), workspace('beta')] },
    ],
    ['its class and fields depend on the events', { on: ['crm.*.created'], class: 'refreshed', fields: ['수정 날짜'] }],
    ['it has a where, whose result depends on the events', { where: { 'data.after.등급': 'never' } }],
  ])('config warnings: none where %s', (_what, options, given = {}) => {
    expect(warningsOf(options, given)).toEqual([]);
  });
});

describe('config warnings: a list that is needed and not polled', () => {
  const about = (config: object): string[] =>
    configWarnings(parseConfig(config, { source: 'the test' })).map(
      ({ about: kind, subject, reason }) => `${kind} ${Object.values(subject).join()}: ${reason}`,
    );

  it.each<[string, object, string[]]>([
    ['nothing is wrong', { ...acme({}), serve: { token: 'mirror-token-7305918264' } }, []],
    [
      'no list is enabled',
      acme(off(...LISTS), { todos: { watch: false } }),
      ['polling acme: every list of the workspace is disabled'],
    ],
    [
      'the mirror serves a workspace without some of its lists',
      {
        ...acme({ ...off('memo', 'history'), people_history: true }),
        serve: { token: 'mirror-token-7305918264' },
      },
      [
        'mirror acme: lists that the mirror does not have (memo, history: disabled; people_history: only keys of rows are stored)',
      ],
    ],
    ['nothing is served', acme(off('memo')), []],
    [
      'two workspaces read the same',
      { workspaces: [workspace(), workspace('b', { baseUrl: 'http://H/' }), workspace('c', { token: 'other' })] },
      [
        'shared b: it has the baseUrl and token of workspace "acme": each change is an event in both, and each has a budget of its own',
      ],
    ],
    [
      'todos are watched and disabled',
      acme(off('todo')),
      ['todos acme: todos.watch is on, and the list "todo" is disabled'],
    ],
  ])('config warnings: %s', (_what, config, expected) => {
    expect(about(config)).toEqual(expected);
  });

  it('config warnings: only the requested kinds are logged, as a short message with facts', () => {
    const { log, heard } = heardLog();
    const config = parseConfig(acme(off(...LISTS), { todos: { watch: false } }), { source: 'the test' });
    logConfigWarnings(log, config, ['mirror']);
    expect(heard).toEqual([]);
    logConfigWarnings(log, config, ['polling']);
    const remedy = 'enable a list, or take the workspace out of the configuration';
    const facts = { workspace: 'acme', reason: 'every list of the workspace is disabled', remedy };
    expect(heard).toEqual([{ level: 'warn', message: 'workspace is not polled', facts }]);
  });
});

describe('config warnings: an address without encryption', () => {
  const warned = (config: object) =>
    clearWarnings(parseConfig({ ...acme({}), ...config }, { source: 'the test' })).map(({ subject, remedy }) => [
      ...Object.values(subject),
      remedy,
    ]);

  it.each([
    ['http://crm.example/api', true],
    ['http://198.41.0.4/api', true],
    ['http://[2606:4700::1111]', true],
    ['https://crm.example/api', false],
    ['http://[::1]:4000', false],
    ['http://10.1.2.3', false],
    ['http://crm.internal', false],
  ])('config warnings: of the API at %s: %s', (baseUrl, isWarned) => {
    const expected = isWarned ? [['acme', 'use https in baseUrl']] : [];
    expect(warned(acme({}, { baseUrl }))).toEqual(expected);
  });

  it.each([
    ['redis://:secret@redis.example/0', 'redis.example:6379'],
    ['redis+cluster://10.0.0.7,198.41.0.4:7000', '10.0.0.7:6379, 198.41.0.4:7000'],
    ['rediss://redis.example', null],
    ['redis://10.0.0.7', null],
  ])('config warnings: of Redis at %s: %s', (url, place) => {
    expect(warned({ redis: { url } })).toEqual(place === null ? [] : [[place, 'use rediss']]);
    const subscriptions = [{ handler: 'bullmq', name: 'jobs', on: ['crm.*'], queue: 'q', prefix: '{q}', redis: url }];
    expect(warned({ subscriptions })).toEqual(place === null ? [] : [['jobs', 'use rediss in redis']]);
  });

  it.each([
    ['postgres://u:p@db.example/crm', true],
    ['postgres://u:p@/crm?host=db.example', true],
    ['postgres://u:p@db.example/crm?sslmode=verify-full', false],
    ['postgres://u:p@/crm?host=/run/a.socket', false],
    ['postgres://u:p@/crm', false],
  ])('config warnings: of PostgreSQL at %s: %s', (url, isWarned) => {
    const expected = isWarned ? [['db', 'add ?sslmode=verify-full to url']] : [];
    expect(warned({ subscriptions: [{ handler: 'postgres', name: 'db', on: ['crm.*'], url }] })).toEqual(expected);
  });
});
