/** What a configuration is refused for, in which words: one line for each case in refused.txt. A secret in it is never shown. */
import { expect, it } from 'vitest';
import { parseConfig } from '../../src/config/parse.js';
import { defineHandler } from '../../src/delivery/handlers/define.js';
import { message } from '../../src/delivery/handlers/message/message.js';
import { ChangefeedError } from '../../src/kit/errors.js';

/** `sesame` is part of every secret. */
const TOKEN = 'sesame-token';
const workspace = { name: 'acme', baseUrl: 'https://crm.example/api', token: TOKEN };
const secret = `whsec_${Buffer.from('sesame'.repeat(5)).toString('base64')}`;
const READ = 'sesame-token-of-readers';
const stdout = { handler: 'ndjson', name: 'out' };
const handle = (): void => undefined;

const inWorkspace = (more: object): object => ({ workspaces: [{ ...workspace, ...more }] });
const inLists = (lists: object): object => inWorkspace({ lists });
const inPeople = (more: object): object => inLists({ people: more });
const whole = (more: object): object => ({ workspaces: [workspace], ...more });
const inRedis = (redis: unknown): object => whole({ redis });
const subscribe = (...subscriptions: unknown[]): object => whole({ subscriptions });
const two = (first: object, second: object, more: object = {}): object => ({
  workspaces: [
    { ...workspace, ...first },
    { ...workspace, name: 'other', ...second },
  ],
  ...more,
});
const out = (more: object): object => subscribe({ ...stdout, ...more });
const hook = (more: object): object =>
  subscribe({ handler: 'webhook', name: 'ops', url: 'https://ops.example/hooks', secret, ...more });
const chat = (more: object): object =>
  subscribe({ handler: 'message', name: 'chat', url: 'https://hooks.example/key', ...more });
const mirror = (more: object): object =>
  subscribe({ handler: 'postgres', name: 'mirror', url: 'postgres://u:sesame@db.example/crm', ...more });
const jobs = (more: object): object =>
  subscribe({ handler: 'bullmq', name: 'jobs', queue: 'crm', redis: 'redis://:sesame@h', ...more });
const consumer = { handler: 'pull', name: 'warehouse' };
const asked = (more: object): object => subscribe({ ...consumer, ...more });
const where = (conditions: unknown): object => out({ where: conditions });
const digest = (more: object, others: object = {}): object => chat({ digest: more, ...others });

type Case = readonly [what: string, raw: unknown];
const CASES: Readonly<Record<string, readonly Case[]>> = {
  workspaces: [
    ['nothing', undefined],
    ['an unknown option', { workspaces: [workspace], subscription: [] }],
    ['a name', inWorkspace({ name: 'a b' })],
    ['a name twice', { workspaces: [workspace, workspace] }],
    ['no address', inWorkspace({ baseUrl: undefined })],
    ['an empty token', inWorkspace({ token: '' })],
    ['a token with its scheme', inWorkspace({ token: `Bearer ${TOKEN}` })],
    ['a token in place of the address', inWorkspace({ baseUrl: TOKEN })],
    ['a time zone', inWorkspace({ timeZone: 'Seoul' })],
    ['a language', inWorkspace({ language: 'jp' })],
    ['a link without a place for the id', inWorkspace({ links: { person: 'https://crm.example' } })],
    ['a link that is no web address', inWorkspace({ links: { person: 'ftp://crm.example/{id}' } })],
    ['a link for what there is not', inWorkspace({ links: { persn: 'https://crm.example/{id}' } })],
  ],
  lists: [
    ['an unknown list', inLists({ peple: {} })],
    ['a list named twice', inLists({ activity: {}, 'people/activity': {} })],
    ['a mask', inPeople({ mask: { 전화: 'last3' } })],
    ['a mask of what the list is read by', inPeople({ mask: { 'i*': 'hash', '수정 날짜': 'drop' } })],
    ['a duration', inPeople({ interval: 30 })],
    ['no path', inLists({ offer: {} })],
    ['a built-in name', inLists({ memo: { path: 'deal' } })],
    ['a built-in path', inLists({ deal: { path: 'deal/history' } })],
    ['a taken object', inLists({ deal: { path: 'deal', object: 'person' } })],
    ['the same path twice', inLists({ a: { path: 'deal' }, b: { path: 'deal' } })],
    ['the same object twice', inLists({ a: { path: 'a', object: 'x' }, b: { path: 'b', object: 'x' } })],
    ['an object that is no word', inLists({ deal: { path: 'deal', object: 'my.deal' } })],
    ['a name that is no word', inLists({ 'a deal': { path: 'deal' } })],
    ['another name inside', inLists({ deal: { path: 'deal', name: 'deals' } })],
    ...['../v1/deal', 'a/../b', 'https://evil.example/deal', 'deal?x=1', '', 'a//b', 'deal/'].map((path): Case => [
      `the path ${JSON.stringify(path)}`,
      inLists({ deal: { path } }),
    ]),
    ['a ready-made list with a description', inLists({ deal: { key: 'deals' } })],
    ['a ready-made list nearly right', inLists({ deals: true })],
    ['a ready-made list with the path of another', inLists({ offer: { path: 'deal' }, deal: true })],
    ['a ready-made list with the object of another', inLists({ offer: { path: 'offer', object: 'deal' }, deal: true })],
    ['a ready-made list without a switch', inLists({ deal: 'yes' })],
    [
      'other objects of one list',
      two({ lists: { deal: { path: 'deal' } } }, { lists: { deal: { path: 'deal', object: 'sale' } } }),
    ],
    [
      'another path of one list that is served',
      two(
        { lists: { deal: { path: 'deal' } } },
        { lists: { deal: { path: 'sales/deal' } } },
        { serve: { token: { acme: READ, other: `${READ}-2` } } },
      ),
    ],
    [
      'another name of one path that is served',
      two(
        { lists: { deal: { path: 'deal' } } },
        { lists: { offer: { path: 'deal' } } },
        { serve: { token: { acme: READ, other: `${READ}-2` } } },
      ),
    ],
  ],
  redis: [
    ['no URL', inRedis('sesame')],
    ['a database', inRedis({ url: 'redis://h/one' })],
    ['a database of a cluster', inRedis({ url: 'redis+cluster://h:1,h:2/3' })],
    ['no master', inRedis({ url: 'redis+sentinel://h:1,h:2' })],
    ['no host', inRedis({ url: 'redis+cluster://h:1,' })],
    ['another scheme', inRedis({ url: 'redis+other://h:1' })],
    ['a user in a node', inRedis({ cluster: ['h:1', 'user:sesame@h:2'] })],
    ['a URL and nodes', inRedis({ url: 'redis://h', cluster: ['h:1'] })],
  ],
  http: [
    ...['0.0.0.0', '::', '192.168.0.7', 'crm.internal'].map((host): Case => [
      `the host ${host} for all`,
      whole({ http: { host } }),
    ]),
    ['one token for two roles', whole({ http: { tokens: { read: READ, operate: READ } } })],
    ['a short token', whole({ http: { tokens: { read: 'sesame' } } })],
    ...['aaaaaaaaaaaaaaaaaaaa', 'password12345678', 'changeme-changeme', '0123456789abcdef'].map((operate): Case => [
      `the token ${operate}`,
      whole({ http: { tokens: { operate } } }),
    ]),
    ['a proxy nowhere', whole({ http: { trustedProxy: { from: ['everywhere'] } } })],
    ...['https://status.example', 'status.example:443', 'status.example/', ''].map((host): Case => [
      `the name ${JSON.stringify(host)}`,
      whole({ http: { trustedProxy: { from: ['::1'], hosts: [host] } } }),
    ]),
    ['the token of hints in serve', whole({ serve: { token: READ, hintToken: READ } })],
    [
      'the token of another workspace',
      two({}, {}, { serve: { token: { acme: READ, other: `${READ}-2` }, hintToken: { acme: `${READ}-2` } } }),
    ],
    ['a short token in serve', whole({ serve: { token: 'sesame' } })],
    ['a short token of hints', whole({ serve: { token: READ, hintToken: { acme: 'sesame' } } })],
    ['a workspace that is none', whole({ serve: { token: READ, hintToken: { nowhere: `${READ}-2` } } })],
  ],
  subscriptions: [
    ['a text', subscribe('ops')],
    ['an array', subscribe([])],
    ['a function that is not wrapped', subscribe({ name: 'a', handle })],
    ['no handler', subscribe({ name: 'a' })],
    ['a misspelt handler', subscribe({ name: 'a', handler: 'webhok' })],
    ['a handler in code as data', subscribe({ name: 'a', handler: 'custom', on: [] })],
    ['a name twice', subscribe(stdout, stdout)],
    ['an unknown workspace', out({ workspaces: ['acmee'] })],
    ['no name', out({ name: undefined })],
    ['a long name', out({ name: 'x'.repeat(65) })],
    ['a type that is none', out({ on: [7] })],
    ['the name of a list as type', out({ on: ['crm.*', 'crm.people.created'] })],
    ['the type of a list that is off', out({ on: ['crm.deal.*'], lists: ['people_history'] })],
    ['an unknown list', out({ lists: ['todos'] })],
    ['an unknown object in include', out({ include: ['persn'] })],
    ['a misspelt option, and more', out({ name: undefined, nmae: 'a', concurrency: -1 })],
    ['a delay beyond its bound', out({ retry: { delay: '2m', maxDelay: '1m' } })],
    ['a misspelt option of retry', out({ retry: { delays: '1s' } })],
    ['settle with a bound below its wait', out({ settle: { still: '1m', atMost: '1s' } })],
    ['settle without an order', out({ settle: '1s', order: 'none' })],
    ['whenDead without an order', out({ whenDead: 'hold', order: 'none' })],
    ['a secret in place of a word', out({ class: secret })],
    ['a function without options', () => defineHandler(undefined as never)],
    ['a function without handle', () => defineHandler({ name: 'greet' } as never)],
    ['handle as text', () => defineHandler({ name: 'greet', handle: 'x' } as never)],
  ],
  where: [
    ['a value under a bare name', where({ 금액: 3 })],
    ['an operator that is none', where({ 금액: { raises: true } })],
    ['a change of one value', where({ 'after.금액': { rises: true } })],
    ['a comparison of a change', where({ 금액: { gte: 3 } })],
    ['digits as amount', where({ 금액: { rises: true, by: '20' } })],
    ['to where it was', where({ 등급: { from: 'A', to: 'A' } })],
    ['any in any', where({ any: [{ any: [] }] })],
    ['too many', where({ any: Array.from({ length: 51 }, () => ({ 'after.x': 1 })) })],
    ['two changes', where({ 금액: { rises: true, falls: true } })],
    ['to alone', where({ 금액: { to: 'A' } })],
    ['by alone', where({ 금액: { by: 3 } })],
    ['becomes and from', where({ 금액: { becomes: 'A', from: 'B' } })],
    ['changes and by', where({ 금액: { changes: true, by: 1 } })],
    ['nothing of a change', where({ 금액: {} })],
    ['a root misspelt', where({ 'aftr.유형': 1 })],
    ['an operator of others', where({ 'after.유형': { equals: 1 } })],
    ['nothing of a value', where({ 'after.유형': {} })],
    ['a text', where('after')],
    ['a number', where(3)],
  ],
  webhook: [
    ['a URL without https', hook({ url: 'http://ops.example/?k=sesame' })],
    ['another scheme', hook({ url: 'ftp://h/' })],
    ['a mistyped secret', hook({ secret: secret.replace('c', '!') })],
    ['a host with a port', hook({ allowHosts: ['127.0.0.1:80'] })],
    ['a header with a line break', hook({ headers: { 'x-api-key': 'sesame\r\nx: y' } })],
    ['a header that we set', hook({ headers: { 'Webhook-Id': 'sesame' } })],
    ['a header whose variable is not set', hook({ headers: { 'x-api-key': undefined } })],
    ['an unknown option', hook({ secrets: [] })],
  ],
  message: [
    ['a misspelt word', chat({ template: 'x {{titel}}' })],
    ['a record without a field', chat({ template: '{{after}}' })],
    ['an open brace', chat({ template: '{{title' })],
    ['a related record without include', chat({ template: '{{person.이름}}' })],
    ['a text of the payload', chat({ payload: { text: 'x' } })],
    ['a text of the payload of another service', chat({ service: 'discord', payload: { content: 'x' } })],
    ['an unknown service', chat({ service: 'slak' })],
    ['a service without an incoming webhook', chat({ service: 'kakaowork' })],
    ['a digest at no moment', digest({})],
    ['a digest at two moments', digest({ every: '1h', at: '09:00' })],
    ['a digest each 30 s', digest({ every: '30s' })],
    ['a digest at 24:00', digest({ at: '24:00' })],
    ['a digest at the weekend', digest({ at: '09:00', days: 'weekend' })],
    ['quiet hours of a moment', digest({ at: '09:00', quietHours: { from: '22:00', to: '08:00' } })],
    ['a digest with a limit', digest({ at: '09:00' }, { mostPerMinute: 5 })],
    ...Object.entries({
      order: 'none',
      whenDead: 'hold',
      settle: '30s',
      start: 'snapshot',
      afterRewind: 'snapshot',
    }).map(([option, value]): Case => [`a digest with ${option}`, digest({ at: '09:00' }, { [option]: value })]),
    ['no object in code', () => message('chat' as never)],
  ],
  postgres: [
    ['a URL of something else', mirror({ url: 'mysql://u:sesame@h/d' })],
    ['an escape that is none', mirror({ url: 'postgres://u:50%sesame@h/d' })],
    ['a column of its own name', mirror({ columns: { todo: { sequence: 'bigint' } } })],
    ['two lists in one table', mirror({ tables: { todo: 'memo' } })],
    ['an unknown list', mirror({ tables: { todos: 'x' } })],
  ],
  bullmq: [
    ['a queue that BullMQ refuses', jobs({ queue: 'a:b' })],
    ['a Redis by host alone', jobs({ redis: 'sesame@host' })],
    ['an option that is not passed on', jobs({ job: { lifo: true } })],
  ],
  pull: [
    ...[{ concurrency: 5 }, { retry: { attempts: 3 } }, { whenDead: 'hold' }, { order: 'none' }, { settle: '30s' }].map(
      (more) => [`an option of a queue: ${Object.keys(more).join('')}`, asked(more)] as const,
    ),
    ['a digest', asked({ digest: { every: '1h' } })],
    ['a snapshot', asked({ start: 'snapshot' })],
    ['a token that can be guessed', asked({ token: 'sesamesesamesesame' })],
    ['a visibility of a day', asked({ visibility: '24h' })],
    [
      'two consumers with one token',
      subscribe({ ...consumer, name: 'a', token: READ }, { ...consumer, name: 'b', token: READ }),
    ],
    [
      'the token of the page',
      whole({ http: { tokens: { read: READ } }, subscriptions: [{ ...consumer, token: READ }] }),
    ],
  ],
};

function sentenceOf(raw: unknown): string {
  try {
    if (typeof raw === 'function') (raw as () => unknown)();
    else parseConfig(raw, { source: 'the test' });
  } catch (error) {
    if (error instanceof ChangefeedError && error.code === 'CF_CONFIG_INVALID') return error.message;
    throw error;
  }
  return 'ACCEPTED';
}

it('configuration: what is refused, with its path, what was found and what is allowed (-u updates refused.txt)', async () => {
  const groups = Object.entries(CASES).map(([group, cases]) => {
    const lines = cases.map(([what, raw]) => `${what}: ${sentenceOf(raw).replace(/^the test: /, '')}`);
    return `# ${group}\n${lines.join('\n')}\n`;
  });
  const all = groups.join('\n');
  expect(all).not.toContain('ACCEPTED');
  for (const hidden of ['sesame', secret.slice('whsec_'.length, 20)]) expect(all).not.toContain(hidden);
  await expect(all).toMatchFileSnapshot('./refused.txt');
});
