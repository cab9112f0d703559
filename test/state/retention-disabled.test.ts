import { describe, expect, it } from 'vitest';
import { trimLog } from '../../src/state/retention.js';
import { RedisOffsetStore } from '../../src/state/offsets.js';
import { useRedis } from '../support/redis.js';

const test = useRedis();
const idsOf = (from: number, to: number): string[] => Array.from({ length: to - from + 1 }, (_, i) => `${from + i}-0`);

/** Ten events at 1 ms to 10 ms; `slow` has read the second, `quick` the ninth. */
async function logged(): Promise<(disabled: readonly string[]) => ReturnType<typeof trimLog>> {
  const log = test.keys.log('acme');
  for (const id of idsOf(1, 10)) await test.redis.xadd(log, id, 'event', '{}');
  const places = new RedisOffsetStore(test.redis, test.keys);
  await places.set('acme', 'slow', '2-0');
  await places.set('acme', 'quick', '9-0');
  const retention = { ageMs: 1_000, events: 5 };
  return (disabled) =>
    trimLog(test.redis, test.keys, { workspace: 'acme', retention, nowMs: 20, readers: ['slow', 'quick'], disabled });
}

const kept = async (): Promise<string[]> =>
  (await test.redis.xrange(test.keys.log('acme'), '-', '+')).map(([id]) => id);

describe('the retention of the log, with a subscription that is disabled', () => {
  it('keeps what a subscription has still to read, however much that is', async () => {
    const trim = await logged();
    expect(await trim([])).toEqual({ droppedOffsets: [], dropped: 1, missedBy: [] });
    expect(await kept()).toEqual(idsOf(2, 10));
  });

  it('does not keep it for one that is disabled, and says that it misses events', async () => {
    const trim = await logged();
    expect(await trim(['slow'])).toEqual({ droppedOffsets: [], dropped: 5, missedBy: ['slow'] });
    expect(await kept()).toEqual(idsOf(6, 10));
    // Still missing them at the next look, when nothing more is dropped.
    expect(await trim(['slow'])).toEqual({ droppedOffsets: [], dropped: 0, missedBy: [] });
  });

  it('misses nothing of it while it is within what is kept anyway', async () => {
    const trim = await logged();
    expect(await trim(['quick'])).toEqual({ droppedOffsets: [], dropped: 1, missedBy: [] });
    await new RedisOffsetStore(test.redis, test.keys).set('acme', 'slow', '10-0');
    expect(await trim(['quick'])).toEqual({ droppedOffsets: [], dropped: 4, missedBy: [] });
    expect(await kept()).toEqual(idsOf(6, 10));
  });
});
