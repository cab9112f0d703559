import { expect, it } from 'vitest';
import type { Clock } from '../../src/kit/clock.js';
import { Episode, type EpisodeOptions } from '../../src/kit/episode.js';
import { silentLog } from '../../src/kit/log.js';

function episodeWithLines(options: Partial<EpisodeOptions> = {}) {
  const lines: [string, object][] = [];
  const time = { ms: 0 };
  const clock: Clock = { now: () => time.ms, monotonic: () => time.ms, sleep: () => Promise.resolve() };
  const line = (facts: object, message: string): void => void lines.push([message, facts]);
  const log = { ...silentLog, info: line, warn: line, error: line };
  const episode = new Episode({ begins: 'begins', ends: 'ends', facts: { of: 'x' }, log, clock, ...options });
  return { episode, lines, time, messages: () => lines.map(([message]) => message) };
}

it('episode: is logged once when it begins and once when it is over, with its duration and its failures', () => {
  const { episode, lines, time } = episodeWithLines();
  for (const ms of [1_000, 2_000, 3_000]) {
    time.ms = ms;
    episode.failed({ why: ms });
  }
  time.ms = 5_000;
  episode.over();
  episode.over();
  expect(lines).toEqual([
    ['begins', { of: 'x', why: 1_000 }],
    ['ends', { of: 'x', since: '1970-01-01T00:00:01.000Z', forMs: 4_000, failures: 3 }],
  ]);
});

it('episode: a failure of another kind is logged again, and so is a failure after the end', () => {
  const { episode, messages } = episodeWithLines();
  episode.failed({}, { kind: 'refused' });
  episode.failed({}, { kind: 'timeout' });
  episode.over();
  episode.failed({}, { kind: 'timeout' });
  expect(messages()).toEqual(['begins', 'begins', 'ends', 'begins']);
});

it('episode: below its threshold neither the failures nor their end are logged', () => {
  const { episode, time, messages } = episodeWithLines({ threshold: { failures: 3, lastsMs: 2_000 } });
  for (let n = 0; n < 4; n += 1) episode.failed({});
  episode.over();
  for (const ms of [0, 3_000]) {
    time.ms = ms;
    episode.failed({});
  }
  expect(messages()).toEqual([]);
  episode.failed({});
  expect([messages(), episode.holds]).toEqual([['begins'], true]);
});

it('episode: trouble that comes back within its relapse time is logged only where it lasts, or is of another kind', () => {
  const { episode, time, messages } = episodeWithLines({ relapseMs: 60_000 });
  const at = (ms: number, kind = 'timeout'): void => {
    time.ms = ms;
    episode.failed({}, { kind });
  };
  // Each comes back 40 s after the one before: one episode, however long it goes on.
  for (const ms of [0, 40_000, 80_000, 120_000]) {
    at(ms);
    episode.over();
  }
  expect(messages()).toEqual(['begins', 'ends']);
  at(150_000, 'refused');
  episode.over();
  at(180_000, 'refused');
  at(239_000, 'refused');
  expect(messages()).toEqual(['begins', 'ends', 'begins', 'ends']);
  at(240_000, 'refused');
  expect(messages().slice(4)).toEqual(['begins']);
  episode.over();
  at(400_000, 'refused');
  expect(messages().slice(5)).toEqual(['ends', 'begins']);
});

it('episode: explains what failed before its end, for a minute', () => {
  const { episode, time } = episodeWithLines();
  const explained = (failedMs: number): boolean => episode.explains(failedMs);
  expect(explained(0)).toBe(false);
  episode.failed({});
  time.ms = 10_000;
  episode.over();
  expect([9_000, 11_000].map(explained)).toEqual([true, false]);
  time.ms = 80_000;
  expect(explained(9_000)).toBe(false);
});
