import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { isoTime, systemClock, type Clock } from '../../src/kit/clock.js';
import { silentLog, type Log } from '../../src/kit/log.js';
import { runLoop, type LoopBoard, type LoopOptions } from '../../src/kit/loop.js';

/** A loop whose turns follow the script: `fine`, `stop` (the last turn), or the message of an error. Its clock records waits and ends them at once. */
async function played(
  script: readonly string[],
  options: Partial<LoopOptions> = {},
  eachTurn: () => void = () => undefined,
) {
  const waits: number[] = [];
  const logged: { level: string; facts: { failures?: number; error?: string } }[] = [];
  const stop = new AbortController();
  const sleep = (ms: number, signal?: AbortSignal): Promise<void> => {
    signal?.throwIfAborted();
    waits.push(ms);
    return Promise.resolve();
  };
  const clock: Clock = { now: () => 0, monotonic: () => performance.now(), sleep };
  const line = (level: string) => (facts: object) => void logged.push({ level, facts });
  const log: Log = { ...silentLog, debug: line('debug'), info: line('info'), error: line('error') };
  const turns = [...script];
  await runLoop({
    name: 'test',
    signal: stop.signal,
    log,
    clock,
    random: () => 0.999,
    run() {
      eachTurn();
      const next = turns.shift();
      if (next === 'stop') stop.abort();
      return next === 'fine' ? Promise.resolve(7) : Promise.reject(new Error(next));
    },
    ...options,
  });
  return { waits, logged };
}

it('loop: waits after each turn for the time that the turn returns, and ends when its signal aborts', async () => {
  const stop = new AbortController();
  const answers = [10, 0, 30];
  let turns = 0;
  const { waits } = await played([], {
    signal: stop.signal,
    run: () => {
      if (turns === 2) stop.abort();
      return Promise.resolve(answers[turns++] ?? 0);
    },
  });
  expect(turns).toBe(3);
  expect(waits).toEqual([10]);
});

it('loop: a failing turn is logged and repeated after growing waits, which begin again after a success', async () => {
  const script = ['no luck', 'no luck', 'no luck', 'no luck', 'fine', 'no luck', 'stop'];
  const { waits, logged } = await played(script, { backoff: { delayMs: 100, maxDelayMs: 300 } });
  expect(waits).toEqual([100, 200, 300, 300, 7, 100]);
  expect(logged[0]).toMatchObject({ facts: { loop: 'test', failures: 1, retryInMs: 100, error: 'no luck' } });
});

it('loop: a repeated failure is logged when it begins, when its message changes, and when it is over', async () => {
  const script = ['no luck', 'no luck', 'no luck', 'worse', 'worse', 'fine', 'fine', 'no luck', 'stop'];
  const { logged } = await played(script);
  expect(logged.map(({ level, facts: { failures, error } }) => `${level} ${failures} ${error}`)).toEqual([
    'error 1 no luck',
    'debug 2 no luck',
    'debug 3 no luck',
    'error 4 worse',
    'debug 5 worse',
    'info 5 worse',
    'error 1 no luck',
  ]);
});

it('loop: a loop whose turns fail is on the board with its last error, until a turn succeeds or the loop ends', async () => {
  const loops: LoopBoard = new Map();
  const shown: unknown[] = [];
  const show = (): void => void shown.push(loops.get('test') ?? null);
  await played(['no luck', 'worse', 'fine', 'no luck', 'stop'], { loops }, show);
  const failed = (error: string): object => ({ since: isoTime(0), failed: { at: isoTime(0), error } });
  expect(shown).toEqual([null, failed('no luck'), failed('worse'), null, failed('no luck')]);
  expect([...loops]).toEqual([]);
});

it('loop: an error of a turn after the loop was aborted is not logged', async () => {
  expect((await played(['stop'])).logged).toEqual([]);
});

describe('loop watchdog', () => {
  beforeEach(() => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'Date', 'performance'] });
  });
  afterEach(() => {
    vi.useRealTimers();
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

  it.each([
    ['is aborted', (signal: AbortSignal) => systemClock.sleep(3_600_000, signal)],
    ['ignores its signal', () => new Promise<never>(() => undefined)],
  ])('loop watchdog: after a turn without a sign of life, which %s, the next turn starts', async (_what, hangs) => {
    const stop = new AbortController();
    const reported: object[] = [];
    const loops: LoopBoard = new Map();
    let shown: string[] = [];
    const turns: AbortSignal[] = [];
    const loop = runLoop({
      name: 'test',
      signal: stop.signal,
      log: { ...silentLog, error: (facts) => void reported.push(facts) },
      stallMs: 30_000,
      loops,
      async run(signal) {
        if (turns.push(signal) === 1) await hangs(signal);
        shown = [...loops.keys()];
        stop.abort();
        return 0;
      },
    });
    await vi.advanceTimersByTimeAsync(29_999);
    expect(reported).toEqual([]);
    await vi.advanceTimersByTimeAsync(12_000);
    await loop;
    expect(turns.map(({ reason }) => reason as unknown)).toMatchObject([
      { code: 'CF_LOOP_STALLED' },
      expect.anything(),
    ]);
    expect(reported).toMatchObject([{ loop: 'test', code: 'CF_LOOP_STALLED' }]);
    expect(shown).toEqual(['test']);
    expect([...loops]).toEqual([]);
  });
});
