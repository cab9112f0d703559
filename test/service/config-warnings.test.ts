import { expect, it } from 'vitest';
import { configWarnings, logConfigWarnings } from '../../src/service/config-warnings.js';
import { parseConfig } from '../../src/config/parse.js';
import { heardLog } from '../support/heard-log.js';

const LISTS = ['people', 'organization', 'memo', 'todo', 'history', 'activity'];
const off = (...lists: string[]): object => Object.fromEntries(lists.map((list) => [list, { enabled: false }]));
const workspace = (name = 'acme', more: object = {}): object => ({
  ...{ name, baseUrl: 'https://crm.example', token: 'tok', ...more },
});
const acme = (lists: object, more: object = {}): object => ({ workspaces: [workspace('acme', { lists, ...more })] });
const two = (one: object, other: object = {}): object => ({
  workspaces: [workspace('acme', { lists: one }), workspace('beta', { token: 'other', ...other })],
});
const subscribed = (options: object, given = acme({})): object => ({
  ...given,
  subscriptions: [{ handler: 'ndjson', name: 's', ...options }],
});
const MIRROR = { serve: { token: 'mirror-token-7305918264' } };
const jobs = { handler: 'bullmq', on: ['crm.*'], queue: 'q', prefix: '{q}' };

const CASES: Readonly<Record<string, readonly (readonly [what: string, config: object])[]>> = {
  'a subscription that can never match': [
    ['its lists have none of its types', subscribed({ on: ['crm.todo.completed'], lists: ['people'] })],
    ["its lists exclude the feed's own events", subscribed({ on: ['changefeed.*'], lists: ['people'] })],
    [
      'its workspace does not have the list',
      subscribed({ on: ['crm.deal.updated'], workspaces: ['beta'] }, two({ deal: { path: 'deal' } })),
    ],
    [
      'its list is disabled in the workspaces it names, and enabled in another',
      subscribed({ on: ['crm.memo.*'], workspaces: ['acme'] }, two(off('memo'))),
    ],
    ["the feed's own events", subscribed({ on: ['changefeed.*'] })],
    ["the feed's own events of a feed that polls nothing", subscribed({ on: ['changefeed.*'] }, acme(off(...LISTS)))],
    ['one of its lists is enabled', subscribed({ on: ['crm.*.created'] }, acme(off(...LISTS.slice(1))))],
    ['one of its workspaces polls its list', subscribed({ on: ['crm.memo.*'] }, two(off('memo')))],
    [
      'its class and fields depend on the events',
      subscribed({ on: ['crm.*.created'], class: 'refreshed', fields: ['수정 날짜'] }),
    ],
    ['it has a where', subscribed({ where: { 'data.after.등급': 'never' } })],
  ],
  'a list that is needed and not polled': [
    ['nothing is wrong', { ...acme({}), ...MIRROR }],
    ['no list is enabled', acme(off(...LISTS), { todos: { watch: false } })],
    [
      'the mirror serves a workspace without some of its lists',
      { ...acme({ ...off('memo', 'history'), people_history: true }), ...MIRROR },
    ],
    ['nothing is served', acme(off('memo'))],
    ['two workspaces read the same', two({}, { token: 'tok', baseUrl: 'https://CRM.example/' })],
    ['todos are watched and disabled', acme(off('todo'))],
  ],
  'an address without encryption': [
    ...[
      'http://crm.example/api',
      'http://198.41.0.4/api',
      'http://[2606:4700::1111]',
      'https://crm.example/api',
      'http://[::1]:4000',
      'http://10.1.2.3',
      'http://crm.internal',
    ].map((baseUrl) => [baseUrl, acme({}, { baseUrl })] as const),
    ...[
      'redis://:secret@redis.example/0',
      'redis+cluster://10.0.0.7,198.41.0.4:7000',
      'rediss://redis.example',
      'redis://10.0.0.7',
    ].flatMap((url) => [
      [url, { ...acme({}), redis: { url } }] as const,
      [`${url} of a queue`, subscribed({ ...jobs, redis: url })] as const,
    ]),
    ...[
      'postgres://u:p@db.example/crm',
      'postgres://u:p@/crm?host=db.example',
      'postgres://u:p@db.example/crm?sslmode=verify-full',
      'postgres://u:p@/crm?host=/run/a.socket',
      'postgres://u:p@/crm',
    ].map((url) => [url, subscribed({ handler: 'postgres', on: ['crm.*'], url })] as const),
  ],
};

it('config warnings: each has its reason and its remedy (-u updates config-warnings.txt)', async () => {
  const groups = Object.entries(CASES).map(([group, cases]) => {
    const lines = cases.map(([what, raw]) => {
      const config = parseConfig(raw, { source: 'the test' });
      const found = configWarnings(config).map(
        ({ about, subject, reason, remedy }) =>
          `\n  ${about} ${Object.values(subject).join(', ')}: ${reason}\n    ${remedy}`,
      );
      return `${what}:${found.join('') || ' none'}`;
    });
    return `# ${group}\n${lines.join('\n')}\n`;
  });
  await expect(groups.join('\n')).toMatchFileSnapshot('./config-warnings.txt');
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
