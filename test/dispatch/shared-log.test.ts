import { describe, expect, it } from 'vitest';
import { shareReading } from '../../src/dispatch/shared-log.js';
import type { LoggedEvent } from '../../src/events/types.js';
import { changeEvent } from '../support/fan-out.js';

const logged = (n: number): LoggedEvent => ({ logId: `${n}-0`, event: changeEvent({ record: 'r1', sequence: n }) });

function aLog(entries: LoggedEvent[]) {
  const log = {
    reads: 0,
    read: (_workspace: string, after: string, count: number) => {
      log.reads += 1;
      return Promise.resolve(entries.filter(({ logId }) => parseInt(logId) > parseInt(after)).slice(0, count));
    },
  };
  return log;
}

describe('shared log', () => {
  it('a full batch is fetched once for all readers at the same offset', async () => {
    const log = aLog([1, 2, 3].map(logged));
    const { read } = shareReading(log);

    const [a, b] = await Promise.all([read('acme', '0', 2), read('acme', '0', 2)]);
    const c = await read('acme', '0', 2);

    expect([a, b, c].map((batch) => batch.map(({ logId }) => logId))).toEqual(Array(3).fill(['1-0', '2-0']));
    expect(log.reads).toBe(1);
  });

  it('a partial batch at the end of the log is fetched again', async () => {
    const entries = [logged(1)];
    const log = aLog(entries);
    const { read } = shareReading(log);
    await read('acme', '0', 2);
    entries.push(logged(2));

    expect((await read('acme', '0', 2)).map(({ logId }) => logId)).toEqual(['1-0', '2-0']);
    expect(await read('other', '1', 2)).toHaveLength(1);
  });

  it('a failed read is repeated', async () => {
    const sound = aLog([1, 2].map(logged));
    let broken = true;
    const { read } = shareReading({
      read: (...args) => (broken ? Promise.reject(new Error('away')) : sound.read(...args)),
    });
    await expect(read('acme', '0', 2)).rejects.toThrow('away');
    broken = false;
    expect(await read('acme', '0', 2)).toHaveLength(2);
  });
});
