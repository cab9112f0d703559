/** What a definition of a kind says is what follows: of failures, of options, and of the definition itself. */
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { partsOf } from '../../../src/delivery/handlers/errors.js';
import type { DeliveryFailure } from '../../../src/delivery/handlers/failed-delivery.js';
import { defineKind, kindOptions, PermanentError, RetryAfterError } from '../../../src/index.js';
import { eventOf, runHandler } from '../../../src/testing/index.js';

const DAY_MS = 86_400_000;

function desk(thrown: Error, failure: DeliveryFailure | undefined) {
  return defineKind({
    ...{
      name: 'desk',
      words: { en: 'desk', ko: '창구' },
      options: kindOptions({ room: z.string().min(2).optional() }),
    },
    open: () => ({ deliver: () => Promise.reject(thrown), failure: () => failure }),
  });
}

async function runOf(thrown: Error, failure?: DeliveryFailure) {
  const { runs } = await runHandler(desk(thrown, failure)({ name: 'one' }), eventOf('crm.person.created'));
  return runs[0] as (typeof runs)[number] & { error: Error };
}

describe('kind of handler', () => {
  it.each<[Omit<DeliveryFailure, 'message'>, object]>([
    [{}, { outcome: 'retry', waitMs: null }],
    [{ retryAfter: 1_500 }, { outcome: 'retry', waitMs: 1_500 }],
    [{ retryAfter: '30s' }, { outcome: 'retry', waitMs: 30_000 }],
    [{ retryAfter: '30' }, { outcome: 'retry', waitMs: 30_000 }],
    [{ retryAfter: 'Thu, 01 Jan 1970 00:00:00 GMT' }, { outcome: 'retry', waitMs: 0 }],
    [{ retryAfter: 'soon' }, { outcome: 'retry', waitMs: null }],
    [{ retryAfter: null }, { outcome: 'retry', waitMs: null }],
    [{ retryAfter: '9999999999' }, { outcome: 'retry', waitMs: DAY_MS }],
    [{ then: 'dead' }, { outcome: 'dead', because: 'permanent' }],
    [{ then: 'pause' }, { outcome: 'paused' }],
  ])('kind: of a failure %j follows %j', async (failure, expected) => {
    const run = await runOf(new Error('x'), { ...failure, message: 'it is closed.', said: 'secret words' });
    expect(run).toMatchObject(expected);
    const { known, whole } = partsOf(run.error);
    expect(known).toContain('Desk "one": it is closed.');
    expect(known).not.toContain('secret words');
    if (failure.then !== 'pause') expect(whole).toContain('secret words');
  });

  it('kind: what says itself what follows stays as it is', async () => {
    const failure = { message: 'not this.' };
    for (const thrown of [new PermanentError('gone'), new RetryAfterError('busy', { retryAfter: '5s' })])
      expect((await runOf(thrown, failure)).error).toBe(thrown);
    const plain = new Error('x');
    expect((await runOf(plain)).error).toBe(plain);
  });

  it.each([
    [{ room: 1 }, 'room of desk "one": found the number 1; allowed: string.'],
    [{ room: 'a' }, 'room of desk "one": found "a"; allowed: string to have >=2 characters.'],
    [{ rooms: 'a' }, 'rooms of desk "one": there is no such option (did you mean "room"?)'],
  ])('kind: options are refused in the words of the schema: %j', (options, message) => {
    expect(() => desk(new Error(), undefined).build({ name: 'one', ...options })).toThrow(message);
  });

  it.each([
    [{ name: 'a b' }, 'name of defineKind "a b": found "a b"; allowed: letters and digits'],
    [{ words: { en: 'a' } }, 'words.ko of defineKind "desk": found nothing; allowed: a text'],
    [{ options: {} }, 'options of defineKind "desk": found an object with 0 keys; allowed: a schema of zod 4'],
    [{ deliver: 1 }, 'deliver of defineKind "desk": there is no such option'],
  ])('kind: a definition that is not complete is refused: %j', (part, message) => {
    const whole = { name: 'desk', words: { en: 'a', ko: 'b' }, options: kindOptions({}), open: () => ({}), ...part };
    expect(() => defineKind(whole as never)).toThrow(message);
  });
});
