import { expect, it } from 'vitest';
import { formatPosition, parsePosition } from '../../src/events/position.js';
import type { LogEntry } from '../../src/log/entry.js';
import { queryLog, type LogQuery } from '../../src/log/query.js';
import { appendEvents, changeEvent, changesOf, fieldsOf, firstChangesOf, WORKSPACE } from '../support/events.js';
import { useRedis } from '../support/redis.js';

const test = useRedis();
const ORDERS = ['oldest', 'newest'] as const;
const SOURCES = ['acme', 'beta'];

async function batches(query: Partial<LogQuery>): Promise<LogEntry[][]> {
  const found: LogEntry[][] = [];
  for await (const batch of queryLog(test, { workspaces: [WORKSPACE], order: 'oldest', ...query })) found.push(batch);
  return found;
}
const idsOf = (entries: readonly LogEntry[]): string[] => entries.map(({ logId }) => logId);
const ask = async (query: Partial<LogQuery>): Promise<string[]> => idsOf((await batches(query)).flat());

it.each(ORDERS)('log query: all of a log, the %s first, from one entry (exclusive) to another', async (order) => {
  const events = changesOf('r1', ...Array.from({ length: 700 }, (_, at) => at + 1));
  const logged = await appendEvents(test, events);
  const ids = order === 'oldest' ? logged : logged.toReversed();

  expect(await ask({ order })).toEqual(ids);
  expect(await ask({ order, from: ids[3], to: ids[600] })).toEqual(ids.slice(4, 601));
  expect(await ask({ order, limit: 60 })).toEqual(ids.slice(0, 60));
  expect(await ask({ order, from: ids.at(-1) })).toEqual([]);
  expect(await ask({ order, from: order === 'oldest' ? '+' : '0' })).toEqual([]);
});

it.each(ORDERS)(
  'log query: several logs are read together by time, the %s first, each from where it was read',
  async (order) => {
    const at = (workspace: string, ms: number) =>
      test.redis.xadd(
        test.keys.log(workspace),
        `${ms}-0`,
        ...fieldsOf(changeEvent({ record: 'r1', sequence: ms, workspace })),
      );
    for (let ms = 1; ms <= 300; ms += 1) await at(SOURCES[ms % 3 === 0 ? 1 : 0]!, ms);
    const times = (entries: readonly LogEntry[]) => entries.map(({ workspace, logId }) => `${workspace}@${logId}`);
    const all = Array.from({ length: 300 }, (_, nth) => `${SOURCES[(nth + 1) % 3 === 0 ? 1 : 0]!}@${nth + 1}-0`);
    const wanted = order === 'oldest' ? all : all.toReversed();

    const found = (await batches({ workspaces: SOURCES, order })).flat();
    expect(times(found)).toEqual(wanted);
    const from = parsePosition('acme@100-0,beta@150-0')!;
    expect(formatPosition(from)).toBe('acme@100-0,beta@150-0');
    const isAfter = (one: string): boolean => {
      const ms = Number(/\d+/.exec(one)?.[0]);
      const offset = one.startsWith('acme') ? 100 : 150;
      return order === 'oldest' ? ms > offset : ms < offset;
    };
    expect(times((await batches({ workspaces: SOURCES, order, from })).flat())).toEqual(wanted.filter(isAfter));
  },
);

it('log query: events of some types, or of one record, are found without being parsed', async () => {
  const memo = changeEvent({ record: 'm1', sequence: 1, list: 'memo', verb: 'created' });
  const [r1, m1, r2] = await appendEvents(test, [...firstChangesOf('r1'), memo, ...firstChangesOf('r2')]);
  const broken = ['event', 'no JSON', 'type', 'crm.todo.created', 'subject', 't1'];
  await test.redis.xadd(test.keys.log(WORKSPACE), '*', ...broken);

  expect(await ask({ types: ['crm.person.*'] })).toEqual([r1, r2]);
  expect(await ask({ record: 'm1' })).toEqual([m1]);
  expect(await ask({ types: ['crm.person.*'], record: 'r2', order: 'newest', limit: 1 })).toEqual([r2]);
});

it('log query: an entry whose type or subject is not that of its event is refused', async () => {
  const [event, , , , ...subject] = fieldsOf(firstChangesOf('r1')[0]!);
  await test.redis.xadd(test.keys.log(WORKSPACE), '*', event!, JSON.stringify(firstChangesOf('r1')[0]), ...subject);
  const [entry] = (await batches({})).flat();

  expect(() => entry!.parse()).toThrow(/expected an event of the log, found one whose fields "type" and "subject"/);
});

it('log query: large entries are read a few at a time', async () => {
  const large = changesOf('r1', ...Array.from({ length: 100 }, (_, at) => at + 1));
  await appendEvents(test, large);
  await appendEvents(
    test,
    Array.from({ length: 30 }, (_, at) => changeEvent({ record: 'r2', sequence: at, weight: 300_000 })),
  );
  const sizes = (await batches({ from: '0' })).map((batch) => batch.length);

  expect(sizes.reduce((sum, size) => sum + size, 0)).toBe(130);
  expect(
    Math.max(...(await batches({ record: 'r2', order: 'newest' })).slice(1).map((batch) => batch.length)),
  ).toBeLessThan(4);
});

it('log query: it ends when it is aborted', async () => {
  await appendEvents(test, changesOf('r1', ...Array.from({ length: 500 }, (_, at) => at + 1)));
  const stop = new AbortController();
  let read = 0;
  for await (const batch of queryLog(test, { workspaces: [WORKSPACE], order: 'newest', signal: stop.signal })) {
    read += batch.length;
    stop.abort();
  }

  expect(read).toBe(50);
});
