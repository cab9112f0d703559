import { describe, expect, it } from 'vitest';
import { systemClock, type Clock } from '../../src/runtime/clock.js';
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

  it('loop: a failure that repeats is logged when it begins, when it changes, and when it is over', async () => {
    const { clock } = noting();
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

describe('the watchdog of the loop', () => {
  const endless = (): Promise<never> => new Promise(() => undefined);

  it('reports a turn without a sign of life, aborts it, and starts the next one', async () => {
    const stop = new AbortController();
    const reported: object[] = [];
    const loops = new Map<string, string>();
    const aborted: unknown[] = [];
    let shown: string[] = [];
    let turns = 0;
    await runLoop({
      name: 'test',
      signal: stop.signal,
      log: { ...silentLog, error: (facts) => void reported.push(facts) },
      backoff: { delayMs: 1, maxDelayMs: 1 },
      stallMs: 30,
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
    expect(turns).toBe(2);
    expect(reported).toMatchObject([{ loop: 'test', code: 'CF_LOOP_STALLED' }]);
    expect(aborted).toMatchObject([{ code: 'CF_LOOP_STALLED' }]);
    expect(shown).toEqual(['test']);
    expect([...loops]).toEqual([]);
  });

  it('leaves alone a loop whose turns wait for something that may never happen', async () => {
    const stop = new AbortController();
    const reported: object[] = [];
    await runLoop({
      name: 'test',
      signal: stop.signal,
      log: { ...silentLog, error: (facts) => void reported.push(facts) },
      stallMs: null,
      async run() {
        await systemClock.sleep(100);
        stop.abort();
        return 0;
      },
    });
    expect(reported).toEqual([]);
  });

  it('does not take a turn for stalled that waits for what every turn needs', async () => {
    const stop = new AbortController();
    const reported: object[] = [];
    let isUsable = true;
    await runLoop({
      name: 'test',
      signal: stop.signal,
      log: { ...silentLog, error: (facts) => void reported.push(facts) },
      stallMs: 50,
      async ready(signal) {
        while (!isUsable) await systemClock.sleep(10, signal);
      },
      async run(signal) {
        isUsable = false;
        await systemClock.sleep(700, signal);
        isUsable = true;
        stop.abort();
        return 0;
      },
    });
    expect(reported).toEqual([]);
  });

  it('lets a turn go on that makes progress', async () => {
    const stop = new AbortController();
    const reported: object[] = [];
    await runLoop({
      name: 'test',
      signal: stop.signal,
      log: { ...silentLog, error: (facts) => void reported.push(facts) },
      stallMs: 200,
      async run(signal, alive) {
        for (let step = 0; step < 20; step += 1) {
          await systemClock.sleep(30, signal);
          alive();
        }
        stop.abort();
        return 0;
      },
    });
    expect(reported).toEqual([]);
  });

  it('starts the next turn also beside one that ignores its signal', { timeout: 20_000 }, async () => {
    const stop = new AbortController();
    let turns = 0;
    await runLoop({
      name: 'test',
      signal: stop.signal,
      log: silentLog,
      backoff: { delayMs: 1, maxDelayMs: 1 },
      stallMs: 20,
      run() {
        turns += 1;
        if (turns === 1) return endless();
        stop.abort();
        return Promise.resolve(0);
      },
    });
    expect(turns).toBe(2);
  });
});
