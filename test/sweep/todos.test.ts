import { describe, expect, it } from 'vitest';
import type { UncheckedRecord } from '../../src/crm/record.js';
import { listedApi } from '../support/listed.js';
import { useRedis } from '../support/redis.js';
import { SPELLINGS, written } from '../support/todos.js';
import { sweptList, type SweptListOptions } from '../support/swept-list.js';

const HOUR_MS = 3_600_000;
const watch = { timeZone: 'Asia/Seoul', dueSoonMs: 24 * HOUR_MS };
const now = Date.now();
const inHours = (hours: number): string => new Date(now + hours * HOUR_MS).toISOString();
const owner = (id: string, name = id): object => ({ id, name });

describe('todo events:', () => {
  const redis = useRedis();
  const open = (records: UncheckedRecord[]) => {
    const api = listedApi(records);
    const list = sweptList(redis, api, 'todo');
    const sweepOnce = (shown: UncheckedRecord[], options: SweptListOptions = {}) => {
      api.records = shown;
      return list.sweep({ watch, ...options });
    };
    return { list, sweepOnce };
  };
  const timers = async (): Promise<Record<string, string>> => {
    const flat = await redis.redis.zrange(redis.keys.due('acme'), '0', '-1', 'WITHSCORES');
    const pairs = flat.flatMap((member, at) => (at % 2 === 0 ? [[member, Number(flat[at + 1])] as const] : []));
    return Object.fromEntries(pairs.map(([member, ms]) => [member, new Date(ms).toISOString()]));
  };

  describe.each(SPELLINGS)('%s', (_how, todo) => {
    it('follow the change they come from, with its sequence and derivedFrom', async () => {
      const { list, sweepOnce } = open([]);
      await sweepOnce([todo('a', { due: inHours(48), owner: owner('u1') })]);
      await sweepOnce([todo('a', { done: true, due: inHours(48), owner: owner('u1') })]);
      await sweepOnce([todo('a', { due: inHours(72), owner: owner('u2') })]);
      expect(await list.eventLines()).toEqual([
        'updated a 1',
        'completed a 1',
        'updated a 2',
        'reassigned a 2',
        'rescheduled a 2',
        'reopened a 2',
      ]);
      const [first, completed] = await list.events();
      expect(completed?.data).toMatchObject({ derivedFrom: first?.id, sequence: 1, after: first?.data.after });
      expect(completed?.data.changes.map(({ field }) => field)).toContain('완료');
      expect(completed?.time).toBe('2026-03-03T01:15:00.000Z');
      const ids = (await list.events()).map(({ id }) => id);
      expect(new Set(ids).size).toBe(ids.length);
    });

    it('are not emitted for a renamed person or a date written otherwise', async () => {
      const { list, sweepOnce } = open([]);
      const due = inHours(1);
      await sweepOnce([todo('a', { due, owner: owner('u1', '가나') })]);
      await sweepOnce([todo('a', { due: due.replace('Z', '+00:00'), owner: owner('u1', '다라') })]);
      expect(await list.eventLines()).toEqual(['updated a 1']);
    });

    it('timers of open todos are set, moved and removed with the todo', async () => {
      const { sweepOnce } = open([]);
      const [soon, later] = [inHours(30), inHours(60)];
      await sweepOnce([todo('a', { due: soon }), todo('b', { due: soon }), todo('done', { done: true, due: soon })]);
      expect(Object.keys(await timers())).toEqual(['due_soon a', 'due_soon b', 'overdue a', 'overdue b']);
      await sweepOnce([todo('a', { due: later }), todo('b', { done: true, due: soon })]);
      expect(await timers()).toMatchObject({ 'overdue a': later });
      expect(Object.keys(await timers())).toEqual(['due_soon a', 'overdue a']);
      await sweepOnce([]);
      await sweepOnce([]);
      expect(await timers()).toEqual({});
    });
  });

  it('a baseline is quiet about what is done or overdue, and keeps future timers', async () => {
    const { list, sweepOnce } = open([]);
    await sweepOnce([
      written('done', { done: true }),
      written('over', { due: inHours(-5) }),
      written('soon', { due: inHours(5) }),
    ]);
    expect(await list.eventLines()).toEqual([]);
    expect(Object.keys(await timers())).toEqual(['overdue soon']);
  });

  it('a new todo is completed when it is done, and due soon or overdue at once when it is', async () => {
    const { list, sweepOnce } = open([]);
    await sweepOnce([]);
    await sweepOnce([
      written('done', { done: true }),
      written('over', { due: inHours(-5) }),
      written('soon', { due: inHours(5) }),
    ]);
    expect(await list.eventLines()).toEqual(['created done 1', 'completed done 1', 'created over 1', 'created soon 1']);
    expect(Object.keys(await timers())).toEqual(['due_soon soon', 'overdue over', 'overdue soon'].sort());
  });

  it('are not emitted for muted fields, nor for a flag that vanished from all todos', async () => {
    const { list, sweepOnce } = open([]);
    const ids = Array.from({ length: 12 }, (_, index) => `t${index}`);
    const rules = { ignore: ['완료', '완료 날짜'] };
    await sweepOnce(ids.map((id) => written(id, { done: true })));
    await sweepOnce(
      ids.map((id) => written(id)),
      { rules },
    );
    await sweepOnce(
      ids.map((id) => {
        const { 완료: _, '완료 날짜': _at, ...rest } = written(id);
        return { ...rest, 완료일: '2026-03-03T01:15:00.000Z' };
      }),
    );
    expect((await list.eventLines()).filter((line) => /completed|reopened/.test(line))).toEqual([]);
  });

  it('without images include completed, rescheduled and reopened, and never the owner', async () => {
    const { list, sweepOnce } = open([]);
    const quiet = { images: false };
    await sweepOnce([written('a', { due: inHours(30), owner: owner('u1') })], quiet);
    await sweepOnce([written('a', { done: true, due: inHours(60), owner: owner('u2') })], quiet);
    await sweepOnce([written('a', { due: inHours(60), owner: owner('u2') })], quiet);
    expect(await list.eventLines()).toEqual([
      'updated a 1',
      'rescheduled a 1',
      'completed a 1',
      'updated a 2',
      'reopened a 2',
    ]);
    const shown = (await list.events()).map(({ data }) => [data.after, data.changes.map(({ after }) => after)]);
    expect(JSON.stringify(shown)).not.toMatch(/u1|u2|2026|전화/);
    expect(Object.keys(await timers())).toEqual(['due_soon a', 'overdue a']);
  });

  it('are not emitted, and no timers kept, for todos that are not watched', async () => {
    const { list, sweepOnce } = open([]);
    const unwatched = { watch: undefined } as unknown as SweptListOptions;
    await sweepOnce([written('a', { due: inHours(30) })], unwatched);
    await sweepOnce([written('a', { done: true, due: inHours(30) })], unwatched);
    expect(await list.eventLines()).toEqual(['updated a 1']);
    expect(await timers()).toEqual({});
  });
});
