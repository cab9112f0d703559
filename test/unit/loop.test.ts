import { describe, expect, it } from 'vitest';
import type { Clock } from '../../src/runtime/clock.js';
import { silentLog, type Log } from '../../src/runtime/log.js';
import { runLoop } from '../../src/runtime/loop.js';

/** A clock whose sleeps are noted and over at once. */
function noting(): { clock: Clock; waits: number[] } {
  const waits: number[] = [];
  const sleep = (ms: number, signal?: AbortSignal): Promise<void> => {
    signal?.throwIfAborted();
    waits.push(ms);
    return Promise.resolve();
  };
  return { clock: { now: () => 0, sleep }, waits };
}

describe('the loop', () => {
  it('runs turn after turn, waits as each turn says, and ends when told', async () => {
    const { clock, waits } = noting();
    const stop = new AbortController();
    const answers = [10, 0, 30];
    let turns = 0;
    await runLoop({
      name: 'test',
      signal: stop.signal,
      log: silentLog,
      clock,
      run: () => {
        if (turns === 2) stop.abort();
        return Promise.resolve(answers[turns++] ?? 0);
      },
    });
    expect(turns).toBe(3);
    expect(waits).toEqual([10]);
  });

  it('reports a failing turn, backs off, and starts afresh after a success', async () => {
    const { clock, waits } = noting();
    const stop = new AbortController();
    const reported: object[] = [];
    const log: Log = { ...silentLog, error: (facts) => void reported.push(facts) };
    const script = ['fail', 'fail', 'fail', 'fine', 'fail', 'stop'];
    await runLoop({
      name: 'test',
      signal: stop.signal,
      log,
      clock,
      backoff: { delayMs: 100, maxDelayMs: 300 },
      random: () => 0.999,
      async run() {
        const next = script.shift();
        if (next === 'stop') stop.abort();
        if (next === 'fail') throw new Error('no luck');
        return Promise.resolve(7);
      },
    });
    expect(waits).toEqual([100, 200, 300, 7, 100]);
    expect(reported[0]).toMatchObject({ loop: 'test', failures: 1, retryInMs: 100, error: 'no luck' });
  });

  it('does not report what a turn throws because it was told to end', async () => {
    const stop = new AbortController();
    const reported: object[] = [];
    const log: Log = { ...silentLog, error: (facts) => void reported.push(facts) };
    const run = (signal: AbortSignal): Promise<number> => {
      stop.abort(new Error('enough'));
      signal.throwIfAborted();
      return Promise.resolve(0);
    };
    await runLoop({ name: 'test', signal: stop.signal, log, run });
    expect(reported).toEqual([]);
  });
});
