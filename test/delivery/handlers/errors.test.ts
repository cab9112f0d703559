import { describe, expect, it } from 'vitest';
import { PermanentError, RetryAfterError, isPermanent, retryAfterMsOf } from '../../../src/delivery/handlers/errors.js';

describe('handler errors', () => {
  it('RetryAfterError: takes a duration or milliseconds', () => {
    expect(retryAfterMsOf(new RetryAfterError('busy', { retryAfter: '30s' }))).toBe(30_000);
    expect(retryAfterMsOf(new RetryAfterError('busy', { retryAfter: 250 }))).toBe(250);
    expect(retryAfterMsOf(new Error('busy'))).toBeUndefined();
  });

  it('RetryAfterError: refuses an invalid wait', () => {
    for (const retryAfter of ['soon', -1, Number.NaN, Number.POSITIVE_INFINITY]) {
      expect(() => new RetryAfterError('busy', { retryAfter })).toThrow(
        expect.objectContaining({ code: 'CF_CONFIG_INVALID' }),
      );
    }
  });

  it('handler errors: are recognised by name and fields, also from another copy of the package', () => {
    const foreign = { name: 'RetryAfterError', message: 'busy', retryAfterMs: 5 };
    expect(retryAfterMsOf(foreign)).toBe(5);
    expect(retryAfterMsOf({ ...foreign, retryAfterMs: '5' })).toBeUndefined();
    expect(isPermanent(Object.assign(new Error('never'), { name: 'PermanentError' }))).toBe(true);
    expect(isPermanent(new PermanentError('never'))).toBe(true);
    expect([new Error('x'), null, undefined, 'PermanentError'].map(isPermanent)).toEqual([false, false, false, false]);
  });
});
