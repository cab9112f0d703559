/** A client under test that records its waits, budget calls, log lines and attempts. No wait takes real time. */
import { createReadApi, type ReadApiOptions } from '../../src/feed/api/client.js';
import type { Budget } from '../../src/feed/api/budget.js';
import type { ReadApi } from '../../src/feed/api/read-api.js';
import type { ObservedTry } from '../../src/feed/api/one-try.js';
import type { Clock } from '../../src/kit/clock.js';
import type { Log } from '../../src/kit/log.js';

export const TOKEN = 'tok-5f0c/1e+9b=d2a7';

export interface ClientUnderTest {
  api: ReadApi;
  waits: number[];
  budget: string[];
  logged: object[];
  tried: ObservedTry[];
}

/** `random` is 0 (no jitter on required waits), `now` is 2026-01-01T00:00:00Z, unless `options` say otherwise. */
export function createClientUnderTest(options: Partial<ReadApiOptions> & { baseUrl: string }): ClientUnderTest {
  const waits: number[] = [];
  const budget: string[] = [];
  const logged: object[] = [];
  const tried: ObservedTry[] = [];
  const api = createReadApi({
    workspace: 'acme',
    token: TOKEN,
    budget: recordingBudget(budget),
    clock: recordingClock(waits),
    log: recordingLog(logged),
    random: () => 0,
    observe: (one) => void tried.push(one),
    ...options,
  });
  return { api, waits, budget, logged, tried };
}

function recordingClock(waits: number[]): Clock {
  return {
    now: () => Date.UTC(2026, 0, 1),
    monotonic: () => 0,
    sleep: (ms) => {
      waits.push(ms);
      return Promise.resolve();
    },
  };
}

function recordingBudget(said: string[]): Budget {
  return {
    take: () => Promise.resolve(void said.push('take')),
    pause: (ms) => Promise.resolve(void said.push(`pause ${ms}`)),
  };
}

function recordingLog(lines: object[]): Log {
  const line = (facts: object, message: string): void => void lines.push({ ...facts, message });
  return { debug: line, info: line, warn: line, error: line, child: () => recordingLog(lines) };
}
