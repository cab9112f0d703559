import { describe, expect, it } from 'vitest';
import { LIST_NAMES } from '../../../src/crm/lists/lists.js';
import type { ListStatus } from '../../../src/ops/watch/status.js';
import { createReads } from '../../../src/redis/reads.js';
import { readWorkspaceStatus } from '../../../src/ops/watch/read-status.js';
import { listedApi, type ListedApi } from '../../support/listed.js';
import { useRedis } from '../../support/redis.js';
import { sweptList, type SweptList } from '../../support/swept-list.js';

const HALF_A_DAY = { minutesLater: 700 };

describe('staleness: a list without changes', () => {
  const redis = useRedis();

  const status = async (): Promise<ListStatus> => {
    const lists = Object.fromEntries(
      LIST_NAMES.map((list) => [list, { enabled: true, intervalMs: null }]),
    ) as Parameters<typeof readWorkspaceStatus>[1]['lists'];
    const view = {
      reads: createReads(redis.redis),
      keys: redis.keys,
      nowMs: Date.now(),
      lateMs: () => 0,
      actorsIn: () => null,
    };
    const workspace = { name: 'acme', state: 'active' as const, budget: { requests: 80, perSeconds: 10 }, lists };
    return (await readWorkspaceStatus(view, workspace)).lists[0]!;
  };
  async function busyWeeks(api: ListedApi, { sweep }: SweptList): Promise<void> {
    for (let round = 0; round < 42; round += 1) {
      api.records = [{ id: 'a', 이름: String(round) }, { id: 'b' }];
      await sweep(HALF_A_DAY);
    }
  }

  it('is shown by every sweep and the status until it changes again', async () => {
    const api = listedApi([]);
    const swept = sweptList(redis, api);
    await busyWeeks(api, swept);
    const silent = [];
    for (let round = 0; round < 5; round += 1) silent.push((await swept.sweep({ ...HALF_A_DAY })).staleness?.kind);
    expect(silent).toEqual([undefined, undefined, 'unchanged', 'unchanged', 'unchanged']);
    const { changedAt } = (await swept.store.load('people')).state.lastSweep!.usualPause!;
    expect((await status()).silence).toEqual({ kind: 'unchanged', since: changedAt, longestPauseMs: 0 });

    api.records = [{ id: 'a', 이름: 'again' }, { id: 'b' }];
    expect((await swept.sweep({ ...HALF_A_DAY })).staleness).toBeUndefined();
    expect((await status()).silence).toBeNull();
    let last;
    for (let round = 0; round < 15; round += 1) last = await swept.sweep(HALF_A_DAY);
    expect(last?.staleness).toMatchObject({ kind: 'unchanged' });
  });

  it('is reported at once when it is empty, even if too few vanish to be held', async () => {
    const api = listedApi([{ id: 'a' }, { id: 'b' }]);
    const swept = sweptList(redis, api);
    await swept.sweep();
    api.records = [];
    expect((await swept.sweep()).staleness).toMatchObject({ kind: 'empty' });
    await swept.sweep();
    expect((await swept.eventLines()).sort()).toEqual(['deleted a 1', 'deleted b 1']);
    expect((await status()).silence).toMatchObject({ kind: 'empty' });
    api.records = [{ id: 'a' }];
    expect((await swept.sweep()).staleness).toBeUndefined();
  });
});
