import { describe, expect, it } from 'vitest';
import { compileWhere, type Conditions } from '../../src/delivery/handlers/where.js';
import { useCli } from '../support/cli.js';
import { aSubscription } from '../support/fan-out.js';
import { appendEvents, changeEvent, type EventSpec } from '../support/events.js';
import { useRedis } from '../support/redis.js';
import { runFanOut } from '../support/running-fan-out.js';

const test = useRedis();
const cli = useCli();
const options = { on: ['crm.person.*'], class: 'edited' as const, where: { 담당자: { rises: true as const, by: 2 } } };
const EVENTS: readonly EventSpec[] = [
  { record: 'r1', sequence: 1, verb: 'created' },
  { record: 'r1', sequence: 2 },
  { record: 'r1', sequence: 3, class: 'refreshed' },
  { record: 'm1', sequence: 4, list: 'memo' },
  { record: 'r2', sequence: 5, changed: ['이메일'] },
];

it.each([
  { where: { 'after.등급': 'A' }, wanted: '"A"', found: '"B"' },
  { where: { 등급: { becomes: 'A' } }, wanted: '{"becomes":"A"}', found: '"C" → "B"' },
  { where: { 이름: { changes: true } }, wanted: '{"changes":true}', found: '"가상인 1"' },
  { where: { 'after.없음': { exists: true } }, wanted: '{"exists":true}', found: 'null' },
  { where: { changed: '이름' }, wanted: '"이름"', found: '["등급"]' },
  {
    where: { any: [{ 등급: { becomes: 'A' } }, { 'after.이름': '나' }] },
    wanted: '[{"등급":{"becomes":"A"}},{"after.이름":"나"}]',
    found: '등급: "C" → "B", after.이름: "가상인 1"',
  },
  { where: { 'after.메모': 'x'.repeat(300) }, wanted: `"${'x'.repeat(199)}…`, found: 'null' },
])('try: a condition that does not hold is shown with what it asks for and what the event has: $where', (given) => {
  const { where, ...compared } = given;
  const changes = [{ field: '등급', before: 'C', after: 'B' }];
  const image = { id: 'r1', 이름: '가상인 1' };
  const fields = { before: { ...image, 등급: 'C' }, after: { ...image, 등급: 'B' }, changes };
  const event = changeEvent({ record: 'r1', sequence: 1, data: fields });
  const [condition] = Object.keys(where);
  expect(compileWhere(where as Conditions).failing?.(event, { name: 'acme', data: {} })).toEqual({
    condition,
    ...compared,
  });
});

describe('try', () => {
  it('try: says what a subscription would have got of the log, and why not the rest, as counts', async () => {
    await appendEvents(test, EVENTS.map(changeEvent));
    const handled: string[] = [];
    const { dispatcher, settled } = await runFanOut(test, [
      aSubscription('ops', ({ id }) => void handled.push(id), {
        ...options,
        where: compileWhere({ any: [{ 담당자: { rises: true } }, { 이름: { becomes: '가상인 1' } }] }),
      }),
    ]);
    await settled();
    const stored = async () => (await test.redis.keys(`${test.keys.prefix}*`)).sort();
    const before = await stored();
    const tried = await dispatcher.try('ops', { last: '1h' });
    expect(tried).toMatchObject({
      subscription: 'ops',
      read: 5,
      selected: 2,
      byType: { 'crm.person.created': 1, 'crm.person.updated': 1 },
      refused: [
        { option: 'class', condition: null, events: 1 },
        { option: 'on', condition: null, events: 1 },
        { option: 'where', condition: 'any', events: 1 },
      ],
    });
    expect(tried.tried.map(({ id }) => id)).toEqual(handled);
    expect(tried.tried[0]).toMatchObject({ record: 'r1', title: '가상인 1', workspace: 'acme', refusedBy: null });
    expect((await dispatcher.try('ops', { examples: 1 })).tried.map(({ id }) => id)).toEqual(handled.slice(1));
    expect((await dispatcher.try('ops', { last: '0ms' })).read).toBe(0);
    expect(await stored()).toEqual(before);
    expect(handled).toHaveLength(2);
  });

  it('try: one that is ended says how far it has looked, and the next one goes on from there', async () => {
    const ids = await appendEvents(
      test,
      Array.from({ length: 300 }, (_, at) =>
        changeEvent({ record: 'r1', sequence: at, verb: at % 3 ? 'updated' : 'created' }),
      ),
    );
    const stop = new AbortController();
    const where = ({ data }: { data: { sequence: number } }) => (data.sequence === 290 && stop.abort(), true);
    const { dispatcher } = await runFanOut(test, [aSubscription('ops', () => undefined, { on: ['*.updated'], where })]);
    const first = await dispatcher.try('ops', { signal: stop.signal });
    expect(first.read).toBeLessThan(300);
    expect(first.next).toBe(`acme@${ids.at(-first.read)}`);
    const rest = await dispatcher.try('ops', { from: first.next! });
    expect(rest).toMatchObject({ read: 300 - first.read, selected: 200 - first.selected, next: null });
    await expect(dispatcher.try('ops', { from: 'acme' })).rejects.toThrow('such as acme@1700000000000-0');
  });

  it('try: of one record, each event has why it is not selected', async () => {
    await appendEvents(test, EVENTS.map(changeEvent));
    const config = {
      workspaces: [{ name: 'acme', baseUrl: 'http://127.0.0.1:1', token: 't' }],
      redis: { prefix: test.keys.prefix },
      subscriptions: [{ handler: 'ndjson', name: 'ops', path: 'out.ndjson', ...options }],
    };
    const folder = await cli({ 'changefeed.config.json': config });
    const run = (...args: string[]) => folder.call(['try', 'ops', ...args], { REDIS_URL: test.url });
    const { stdout } = await run('--record', 'people', 'r1', '--json');
    const wanted = '{"rises":true,"by":2}';
    expect(JSON.parse(stdout)).toMatchObject({
      read: 3,
      tried: [
        { refusedBy: { option: 'where', condition: '담당자', wanted, found: 'null' } },
        { refusedBy: { option: 'where', condition: '담당자', wanted, found: '1 → 2' } },
        { refusedBy: { option: 'class', condition: null, wanted: null, found: null } },
      ],
    });
    expect((await run()).stdout).toMatch(
      /^"ops" would have got 0 of 5 events since .*\. Nothing was sent\.\nThe others are left out by:\n {2}where 담당자 {2}3\n {2}class {2}1\n {2}on {2}1\n$/,
    );
    expect((await run('--record', 'people', 'r1')).stdout).toContain(
      `not selected: where 담당자 (found 1 → 2; asked for ${wanted})`,
    );
    const korean = await folder.call(['try', 'ops'], { REDIS_URL: test.url, LANG: 'ko_KR.UTF-8' });
    expect(korean.stdout).toMatch(
      /^"ops": .* 이후 이벤트 5건 중 0건을 받았을 것입니다\. 아무것도 보내지 않았습니다\.\n나머지를 제외한 옵션:\n/,
    );
    expect(await run('--record', 'people')).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('give the list and the id') as unknown,
    });
    expect(await run('--last', 'week')).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('found "week"') as unknown,
    });
  });
});
