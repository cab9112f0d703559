import { describe, expect, it } from 'vitest';
import type { UncheckedRecord } from '../../../src/crm/record.js';
import { listedApi } from '../../support/listed.js';
import { useRedis } from '../../support/redis.js';
import { SPELLINGS } from '../../support/todos.js';
import { sweptList, type SweptListOptions } from '../../support/swept-list.js';

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
});
