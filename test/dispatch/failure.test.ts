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
const judge = (thrown: unknown, attempt = 1): unknown => decideRetry(thrown, { attempt, retry, random: 0 });

describe('what a failed try means', () => {
  it('waits longer after every failure, and gives up after the last try', () => {
    expect([1, 2, 3].map((attempt) => judge(new Error('x'), attempt))).toEqual([
      { outcome: 'retry', waitMs: 500 },
      { outcome: 'retry', waitMs: 1_000 },
      { outcome: 'dead', because: 'exhausted' },
    ]);
  });

  it('waits as told by a RetryAfterError, which counts as a try', () => {
    const told = new RetryAfterError('busy', { retryAfter: '7s' });
    expect(judge(told)).toEqual({ outcome: 'retry', waitMs: 7_000 });
    expect(judge(told, 3)).toEqual({ outcome: 'dead', because: 'exhausted' });
  });

  it('gives up at once on a PermanentError, also one of another copy of the package', () => {
    expect(judge(new PermanentError('gone'))).toEqual({ outcome: 'dead', because: 'permanent' });
    expect(judge(Object.assign(new Error('gone'), { name: 'PermanentError' }))).toEqual({
      outcome: 'dead',
      because: 'permanent',
    });
  });
});

describe('what is remembered of a failed try', () => {
  it('is its name, its code, a short message and where it came from; and nothing it carries', () => {
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

  it('keeps lines of a long message out of the frames', () => {
    const thrown = new Error('first\n    at a lie:1:1\nmore contents');
    const { frames } = recordFailure(thrown, { attempt: 1, nowMs: 0 });
    expect(frames.join('\n')).not.toContain('lie');
  });

  it('travels through BullMQ in the place of a stack trace, and comes back whole', () => {
    const failure = recordFailure(new Error('x'), { attempt: 1, nowMs: 0 });
    const carriers = [new AttemptFailedError(failure, 5), deadLetterError(failure)];

    expect(carriers.map(({ stack }) => parseFailedAttempt(stack ?? ''))).toEqual([failure, failure]);
    expect(deadLetterError(failure).name).toBe('UnrecoverableError');
    expect(parseFailedAttempt('Error: of another origin\n    at x')).toBeUndefined();
  });
});

describe("a job's history", () => {
  const failure = recordFailure(new Error('x'), { attempt: 3, nowMs: 0 });
  const job = { attemptsMade: 2, stalledCounter: 1, progress: 0 };

  it('counts its tries', () => {
    expect(historyOf(job)).toEqual({ attempt: 3, stalls: 1, dying: null, revived: false, ridden: null });
  });

  it('knows a death under way, so that it is finished and not handled again', () => {
    const dying = { ...job, progress: deathAfter(job, failure) };
    expect(historyOf(dying)).toEqual({ attempt: 3, stalls: 1, dying: failure, revived: false, ridden: null });
  });

  it('knows a first try that failed in the batch of the event ahead, until BullMQ has counted it', () => {
    const ridden = { failure, verdict: { outcome: 'retry', waitMs: 5 } as const };
    const job = { attemptsMade: 0, stalledCounter: 0, progress: { ridden } };
    expect(historyOf(job)).toMatchObject({ attempt: 1, ridden });
    expect(historyOf({ ...job, attemptsMade: 1 })).toMatchObject({ attempt: 2, ridden: null });
  });

  it('knows at its second death that it had been tried again: its place in the lane is another', () => {
    const dead = { attemptsMade: 3, stalledCounter: 0, progress: deathAfter(job, failure) };
    const again = { ...dead, progress: deathAfter(dead, failure) };
    expect(historyOf(again)).toMatchObject({ dying: failure, revived: true });
  });

  it('tells its lives apart, and a death under way belongs to the life it ends', () => {
    const dead = { attemptsMade: 3, stalledCounter: 0, progress: deathAfter(job, failure) };
    const dyingAgain = { ...dead, attemptsMade: 4, progress: deathAfter({ ...dead, attemptsMade: 4 }, failure) };
    const deadAgain = { ...dyingAgain, attemptsMade: 5 };

    expect([job, dead, dyingAgain, deadAgain].map(lifeOf)).toEqual([0, 3, 3, 5]);
  });

  it('counts anew once a dead letter is tried again', () => {
    const dead = { attemptsMade: 3, stalledCounter: 1, progress: deathAfter(job, failure) };
    expect(historyOf(dead)).toEqual({ attempt: 1, stalls: 0, dying: null, revived: true, ridden: null });
    expect(historyOf({ ...dead, attemptsMade: 4 })).toMatchObject({
      attempt: 2,
      stalls: 0,
      dying: null,
      revived: true,
    });
  });
});
