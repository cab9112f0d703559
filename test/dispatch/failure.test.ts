import { describe, expect, it } from 'vitest';
import {
  AttemptFailedError,
  deadLetterError,
  decideRetry,
  parseFailedAttempt,
  recordFailure,
} from '../../src/dispatch/failure.js';
import { deathAfter, historyOf, lifeOf } from '../../src/dispatch/job-history.js';
import { ChangefeedError } from '../../src/errors.js';
import { PermanentError, RetryAfterError } from '../../src/handlers/errors.js';

const retry = { attempts: 3, delayMs: 1_000, maxDelayMs: 60_000 };
const decide = (thrown: unknown, attempt = 1): unknown => decideRetry(thrown, { attempt, retry, random: 0 });

describe('retry policy', () => {
  it('waits longer after every failure, and the last failed attempt is final', () => {
    expect([1, 2, 3].map((attempt) => decide(new Error('x'), attempt))).toEqual([
      { outcome: 'retry', waitMs: 500 },
      { outcome: 'retry', waitMs: 1_000 },
      { outcome: 'dead', because: 'exhausted' },
    ]);
  });

  it('a RetryAfterError sets the wait and counts as an attempt', () => {
    const busy = new RetryAfterError('busy', { retryAfter: '7s' });
    expect(decide(busy)).toEqual({ outcome: 'retry', waitMs: 7_000 });
    expect(decide(busy, 3)).toEqual({ outcome: 'dead', because: 'exhausted' });
  });

  it('a PermanentError is final, also one of another copy of the package', () => {
    expect(decide(new PermanentError('gone'))).toEqual({ outcome: 'dead', because: 'permanent' });
    expect(decide(Object.assign(new Error('gone'), { name: 'PermanentError' }))).toEqual({
      outcome: 'dead',
      because: 'permanent',
    });
  });
});

describe('recorded failure', () => {
  it('contains name, code, shortened message and stack frames, and no other property of the error', () => {
    const thrown = new ChangefeedError('CF_HANDLER_TIMEOUT', {
      message: 'x'.repeat(2_000),
      token: 'secret',
      cause: 'secret',
    });

    const failure = recordFailure(thrown, { attempt: 2, nowMs: 0 });

    expect(failure).toMatchObject({
      attempt: 2,
      at: '1970-01-01T00:00:00.000Z',
      error: 'ChangefeedError',
      code: 'CF_HANDLER_TIMEOUT',
    });
    expect(failure.message.length).toBeLessThan(600);
    expect(failure.frames[0]).toContain('failure.test.ts');
    expect(JSON.stringify(failure)).not.toContain('secret');
  });

  it('lines of the message that resemble frames are not recorded as frames', () => {
    const thrown = new Error('first\n    at a lie:1:1\nmore contents');
    const { frames } = recordFailure(thrown, { attempt: 1, nowMs: 0 });
    expect(frames.join('\n')).not.toContain('lie');
  });

  it('is stored by BullMQ as a stack trace and read back unchanged', () => {
    const failure = recordFailure(new Error('x'), { attempt: 1, nowMs: 0 });
    const carriers = [new AttemptFailedError(failure, 5), deadLetterError(failure)];

    expect(carriers.map(({ stack }) => parseFailedAttempt(stack ?? ''))).toEqual([failure, failure]);
    expect(deadLetterError(failure).name).toBe('UnrecoverableError');
    expect(parseFailedAttempt('Error: of another origin\n    at x')).toBeUndefined();
  });
});

describe('job history', () => {
  const failure = recordFailure(new Error('x'), { attempt: 3, nowMs: 0 });
  const job = { attemptsMade: 2, stalledCounter: 1, progress: 0 };

  it('counts attempts', () => {
    expect(historyOf(job)).toEqual({ attempt: 3, stalls: 1, death: null, retried: false, batchFailure: null });
  });

  it('recognises an unfinished death, so that it is finished and the event is not handled again', () => {
    const dying = { ...job, progress: deathAfter(job, failure) };
    expect(historyOf(dying)).toEqual({ attempt: 3, stalls: 1, death: failure, retried: false, batchFailure: null });
  });

  it('contains a first attempt that failed in the batch of an event ahead, until BullMQ has counted it', () => {
    const batchFailure = { failure, decision: { outcome: 'retry', waitMs: 5 } as const };
    const job = { attemptsMade: 0, stalledCounter: 0, progress: { batchFailure } };
    expect(historyOf(job)).toMatchObject({ attempt: 1, batchFailure });
    expect(historyOf({ ...job, attemptsMade: 1 })).toMatchObject({ attempt: 2, batchFailure: null });
  });

  it('recognises at the second death that the event had been retried and has another position', () => {
    const dead = { attemptsMade: 3, stalledCounter: 0, progress: deathAfter(job, failure) };
    const again = { ...dead, progress: deathAfter(dead, failure) };
    expect(historyOf(again)).toMatchObject({ death: failure, retried: true });
  });

  it('numbers the lives of an event, and an unfinished death belongs to the life it ends', () => {
    const dead = { attemptsMade: 3, stalledCounter: 0, progress: deathAfter(job, failure) };
    const dyingAgain = { ...dead, attemptsMade: 4, progress: deathAfter({ ...dead, attemptsMade: 4 }, failure) };
    const deadAgain = { ...dyingAgain, attemptsMade: 5 };

    expect([job, dead, dyingAgain, deadAgain].map(lifeOf)).toEqual([0, 3, 3, 5]);
  });

  it('counts attempts from 1 again when a dead letter is retried', () => {
    const dead = { attemptsMade: 3, stalledCounter: 1, progress: deathAfter(job, failure) };
    expect(historyOf(dead)).toEqual({ attempt: 1, stalls: 0, death: null, retried: true, batchFailure: null });
    expect(historyOf({ ...dead, attemptsMade: 4 })).toMatchObject({
      attempt: 2,
      stalls: 0,
      death: null,
      retried: true,
    });
  });
});
