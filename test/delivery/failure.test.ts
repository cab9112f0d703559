import { describe, expect, it } from 'vitest';
import { AttemptFailedError, deadLetterError, parseFailedAttempt, recordFailure } from '../../src/delivery/failure.js';
import { ChangefeedError } from '../../src/kit/errors.js';

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
    const carriers = [new AttemptFailedError(failure, { waitMs: 5, untilMs: 8 }), deadLetterError(failure)];

    expect(carriers.map(({ stack }) => parseFailedAttempt(stack ?? ''))).toEqual([failure, failure]);
    expect(deadLetterError(failure).name).toBe('UnrecoverableError');
    expect(parseFailedAttempt('Error: of another origin\n    at x')).toBeUndefined();
  });
});
