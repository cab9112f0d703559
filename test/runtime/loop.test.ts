import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { isoTime, systemClock, type Clock } from '../../src/runtime/clock.js';
import { silentLog, type Log } from '../../src/runtime/log.js';
import { runLoop, type LoopBoard, type LoopOptions } from '../../src/runtime/loop.js';

/** A clock that records each sleep and ends it at once. */
function recordingClock(): { clock: Clock; waits: number[] } {
  const waits: number[] = [];
  const sleep = (ms: number, signal?: AbortSignal): Promise<void> => {
    signal?.throwIfAborted();
    waits.push(ms);
    return Promise.resolve();
  };
  return { clock: { now: () => 0, sleep }, waits };
}

describe('loop', () => {
  it('loop: waits after each turn for the time that the turn returns, and ends when its signal aborts', async () => {
    const { clock, waits } = recordingClock();
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

  it('loop: a failing turn is logged and repeated after growing waits, which begin again after a success', async () => {
    const { clock, waits } = recordingClock();
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

  it('loop: a repeated failure is logged when it begins, when its message changes, and when it is over', async () => {
    const { clock } = recordingClock();
    const stop = new AbortController();
    const logged: string[] = [];
    const note = (level: string) => (facts: { failures?: number; error?: string }) =>
      void logged.push(`${level} ${facts.failures} ${facts.error}`);
    const log: Log = { ...silentLog, debug: note('debug'), info: note('info'), error: note('error') };
    const script = ['no luck', 'no luck', 'no luck', 'worse', 'worse', 'fine', 'fine', 'no luck', 'stop'];
    await runLoop({
      name: 'test',
      signal: stop.signal,
      log,
      clock,
      async run() {
        const next = script.shift();
        if (next === 'stop') stop.abort();
        else if (next !== 'fine') throw new Error(next);
        return Promise.resolve(1);
      },
    });
    expect(logged).toEqual([
      'error 1 no luck',
      'debug 2 no luck',
      'debug 3 no luck',
      'error 4 worse',
      'debug 5 worse',
      'info 5 worse',
      'error 1 no luck',
      'info 1 no luck',
    ]);
  });

  it('loop: a loop whose turns fail is on the board with its last error, until a turn succeeds or the loop ends', async () => {
    const { clock, waits } = recordingClock();
    const at = isoTime(0);
    const stop = new AbortController();
    const loops: LoopBoard = new Map();
    const shown: unknown[] = [];
    const script = ['no luck', 'worse', 'fine', 'no luck', 'stop'];
    await runLoop({
      name: 'test',
      signal: stop.signal,
      log: silentLog,
      clock,
      loops,
      async run() {
        shown.push(loops.get('test') ?? null);
        const next = script.shift();
        if (next === 'stop') stop.abort();
        if (next !== 'fine') throw new Error(next);
        return Promise.resolve(1);
      },
    });
    const failed = (error: string): object => ({ since: at, failed: { at, error } });
    expect(shown).toEqual([null, failed('no luck'), failed('worse'), null, failed('no luck')]);
    expect(waits).toHaveLength(4);
    expect([...loops]).toEqual([]);
  });

  it('loop: an error of a turn after the loop was aborted is not logged', async () => {
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

describe('loop watchdog', () => {
  beforeEach(() => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'Date'] });
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  it('loop watchdog: a turn without a sign of life is logged and aborted, and the next turn starts', async () => {
    const stop = new AbortController();
    const reported: object[] = [];
    const loops: LoopBoard = new Map();
    const aborted: unknown[] = [];
    let shown: string[] = [];
    let turns = 0;
    const loop = runLoop({
      name: 'test',
      signal: stop.signal,
      log: { ...silentLog, error: (facts) => void reported.push(facts) },
      stallMs: 30_000,
      loops,
      async run(signal) {
        turns += 1;
        if (turns === 1) {
          signal.addEventListener('abort', () => aborted.push(signal.reason));
          return await new Promise((_resolve, reject) =>
            signal.addEventListener('abort', () => reject(new Error('aborted'))),
          );
        }
        shown = [...loops.keys()];
        stop.abort();
        return 0;
      },
    });
    await vi.advanceTimersByTimeAsync(29_999);
    expect(reported).toEqual([]);
    await vi.advanceTimersByTimeAsync(1_000);
    await loop;
    expect(turns).toBe(2);
    expect(reported).toMatchObject([{ loop: 'test', code: 'CF_LOOP_STALLED' }]);
    expect(aborted).toMatchObject([{ code: 'CF_LOOP_STALLED' }]);
    expect(shown).toEqual(['test']);
    expect([...loops]).toEqual([]);
  });

  /** A single turn of one hour. @returns what was logged as an error */
  async function turnOfAnHour(
    options: Pick<LoopOptions, 'stallMs' | 'ready'>,
    during: (signal: AbortSignal, alive: () => void) => Promise<void>,
  ): Promise<object[]> {
    const stop = new AbortController();
    const reported: object[] = [];
    const loop = runLoop({
      name: 'test',
      signal: stop.signal,
      log: { ...silentLog, error: (facts) => void reported.push(facts) },
      ...options,
      async run(signal, alive) {
        await during(signal, alive);
        stop.abort();
        return 0;
      },
    });
    await vi.advanceTimersByTimeAsync(3_600_000);
    stop.abort();
    await loop;
    return reported;
  }

  it('loop watchdog: a long turn is reported (control)', async () => {
    const reported = await turnOfAnHour({ stallMs: 1_000 }, (signal) => systemClock.sleep(3_600_000, signal));
    expect(reported).toMatchObject([{ code: 'CF_LOOP_STALLED' }]);
  });

  it('loop watchdog: a loop without a limit may wait for events that never happen', async () => {
    expect(await turnOfAnHour({ stallMs: null }, () => systemClock.sleep(3_600_000))).toEqual([]);
  });

  it('loop watchdog: a turn that waits for the condition of every turn is not stalled', async () => {
    let isUsable = true;
    const ready = async (signal: AbortSignal): Promise<void> => {
      while (!isUsable && !signal.aborted) await systemClock.sleep(1_000, signal).catch(() => undefined);
    };
    const reported = await turnOfAnHour({ stallMs: 1_000, ready }, async (signal) => {
      isUsable = false;
      await systemClock.sleep(3_600_000, signal);
      isUsable = true;
    });
    expect(reported).toEqual([]);
  });

  it('loop watchdog: a turn that makes progress is not stalled', async () => {
    const reported = await turnOfAnHour({ stallMs: 1_000 }, async (signal, alive) => {
      for (let step = 0; step < 4_500; step += 1) {
        await systemClock.sleep(800, signal);
        alive();
      }
    });
    expect(reported).toEqual([]);
  });

  it('loop watchdog: the next turn also starts if the stalled one ignores its signal', async () => {
    const stop = new AbortController();
    let turns = 0;
    const loop = runLoop({
      name: 'test',
      signal: stop.signal,
      log: silentLog,
      stallMs: 1_000,
      run() {
        turns += 1;
        if (turns === 1) return new Promise<never>(() => undefined);
        stop.abort();
        return Promise.resolve(0);
      },
    });
    await vi.advanceTimersByTimeAsync(20_000);
    await loop;
    expect(turns).toBe(2);
  });
});
