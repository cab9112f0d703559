import { expect, it } from 'vitest';
import { hintMs, requiredWaitMs, waitMs } from '../../../src/feed/api/wait.js';

const NOW = Date.UTC(2026, 0, 1);

it.each<[string | undefined, string[], number | null]>([
  ['3', [], 3_000],
  ['0', [], 0],
  ['1.5', [], 1_500],
  ['Thu, 01 Jan 2026 00:00:07 GMT', [], 7_000],
  ['Wed, 31 Dec 2025 23:59:00 GMT', [], 0],
  ['-5', [], null],
  ['soon', [], null],
  ['', [], null],
  [undefined, ['8.316초 후 재시도해주세요.'], 8_516],
  [undefined, ['3초 후 재시도해주세요.', 'Too Many Requests'], 3_200],
  [undefined, ['Too Many Requests', '12 초 뒤에'], 12_200],
  [undefined, ['잠시 후 다시'], null],
  [undefined, [], null],
  ['soon', ['2초'], 2_200],
  ['4', ['2초'], 4_000],
])('wait: Retry-After %j with the statements %j is %j ms', (retryAfter, statements, expected) => {
  expect(hintMs(retryAfter, statements, NOW)).toBe(expected);
});

it.each<[number | null, number, number]>([
  [null, 1, 10_000],
  [null, 2, 20_000],
  [null, 3, 40_000],
  [null, 9, 60_000],
  [8_516, 1, 8_516],
  [8_516, 5, 8_516],
  [0, 1, 200],
  [86_400_000, 1, 60_000],
])('wait: after a 429 with the hint %j at attempt %j, all processes wait %j ms', (hint, attempt, expected) => {
  expect(requiredWaitMs({ code: 'CF_RATE_LIMITED', hintMs: hint, attempt })).toBe(expected);
});

it('wait: jitter makes it longer and never shorter', () => {
  const failed = { code: 'CF_RATE_LIMITED', hintMs: 5_000, attempt: 1 } as const;
  const backoff = { delayMs: 500, maxDelayMs: 30_000 };
  expect([0, 0.5, 1].map((random) => waitMs(failed, backoff, random))).toEqual([5_000, 5_500, 6_000]);
});

it('wait: is backoff when the server names none', () => {
  const wait = (attempt: number) =>
    waitMs({ code: 'CF_UNAVAILABLE', hintMs: null, attempt }, { delayMs: 500, maxDelayMs: 3_000 }, 0.5);
  expect([1, 2, 3, 4, 5].map(wait)).toEqual([375, 750, 1_500, 2_250, 2_250]);
});
