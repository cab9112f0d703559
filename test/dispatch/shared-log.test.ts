import { describe, expect, it, onTestFinished } from 'vitest';
import { shareLog } from '../../src/dispatch/shared-log.js';
import { silentLog } from '../../src/runtime/log.js';
import { createLogReader } from '../../src/state/event-log.js';
import { eventually } from '../support/eventually.js';
import { WORKSPACE, appendEvents, changeEvent, wrapLog } from '../support/fan-out.js';
import { useRedis } from '../support/redis.js';

const test = useRedis();
const never = new AbortController().signal;
const append = (...sequences: number[]): Promise<string[]> =>
  appendEvents(
    test.redis,
    test.keys,
    sequences.map((sequence) => changeEvent({ record: 'r1', sequence })),
  );

/** A shared log that follows the log of the test, and counts how often the log itself is read. */
function follow() {
  const connect = () => test.connect({ maxRetriesPerRequest: null });
  const reader = createLogReader({ redis: test.redis, keys: test.keys, connect });
  const reads = { count: 0, broken: false };
  const log = wrapLog(reader, {
    read: (...args) => {
      reads.count += 1;
      return reads.broken ? Promise.reject(new Error('away')) : reader.read(...args);
    },
  });
  const shared = shareLog({ workspace: WORKSPACE, log, logger: silentLog });
  const stop = new AbortController();
  const running = shared.run(stop.signal);
  onTestFinished(async () => {
    stop.abort();
    await running;
    await reader.close();
  });
  return { shared, reads };
}

describe('shared log', () => {
  it('an event at the end wakes all readers, and is read once for those that ask together', async () => {
    const [first = ''] = await append(1);
    const { shared, reads } = follow();
    const woken = Promise.all([shared.waitAfter(first, never), shared.waitAfter(first, never)]);

    const [second] = await append(2);

    await woken;
    const batches = await eventually(async () => {
      reads.count = 0;
      const read = await Promise.all([shared.read(first, 10), shared.read(first, 10)]);
      expect(read[0]).toHaveLength(1);
      return read;
    });
    expect(batches.map((batch) => batch.map(({ logId }) => logId))).toEqual([[second], [second]]);
    expect(reads.count).toBe(1);
  });

  it('a failed read is repeated', async () => {
    await append(1);
    const { shared, reads } = follow();
    reads.broken = true;
    await expect(shared.read('0', 2)).rejects.toThrow('away');
    reads.broken = false;
    expect(await shared.read('0', 2)).toHaveLength(1);
  });
});
