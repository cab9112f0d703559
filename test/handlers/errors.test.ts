import { describe, expect, it } from 'vitest';
import { PermanentError, RetryAfterError, isPermanent, retryAfterMsOf } from '../../src/handlers/errors.js';

describe('what a handler throws', () => {
  it('asks for a wait as a duration or in milliseconds', () => {
    expect(retryAfterMsOf(new RetryAfterError('busy', { retryAfter: '30s' }))).toBe(30_000);
    expect(retryAfterMsOf(new RetryAfterError('busy', { retryAfter: 250 }))).toBe(250);
    expect(retryAfterMsOf(new Error('busy'))).toBeUndefined();
  });

  it('refuses a wait that is none', () => {
    for (const retryAfter of ['soon', -1, Number.NaN, Number.POSITIVE_INFINITY]) {
      expect(() => new RetryAfterError('busy', { retryAfter })).toThrow(
        expect.objectContaining({ code: 'CF_CONFIG_INVALID' }),
      );
    }
  });

  it('is recognised by name and fields, so that errors of another copy of the package count too', () => {
    const foreign = { name: 'RetryAfterError', message: 'busy', retryAfterMs: 5 };
    expect(retryAfterMsOf(foreign)).toBe(5);
    expect(retryAfterMsOf({ ...foreign, retryAfterMs: '5' })).toBeUndefined();
    expect(isPermanent(Object.assign(new Error('never'), { name: 'PermanentError' }))).toBe(true);
    expect(isPermanent(new PermanentError('never'))).toBe(true);
    expect([new Error('x'), null, undefined, 'PermanentError'].map(isPermanent)).toEqual([false, false, false, false]);
  });
});
