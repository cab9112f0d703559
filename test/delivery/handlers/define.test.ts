import { describe, expect, it } from 'vitest';
import { defineHandler, type HandlerOptions } from '../../../src/delivery/handlers/define.js';
import { handlerContext, sampleEvent } from '../../support/handler-fixtures.js';

describe('defineHandler', () => {
  it('defineHandler: calls the handler with event and context, as a method of its options', async () => {
    const seen: unknown[] = [];
    const subscription = defineHandler({
      name: 'greet',
      on: ['crm.person.created'],
      concurrency: 2,
      handle(event, context) {
        seen.push(this.name, event, context);
      },
    });
    const event = sampleEvent();
    const context = handlerContext();
    await subscription.handle(event, context);
    expect(seen).toEqual(['greet', event, context]);
    expect(subscription).toMatchObject({
      name: 'greet',
      handler: 'custom',
      on: ['crm.person.created'],
      concurrency: 2,
    });
  });

  it.each<[string, unknown, string]>([
    [
      'no options',
      undefined,
      'defineHandler without a name: found nothing; allowed: an object with name, on, workspaces, lists, class, fields, from, notFrom, where, include, language, transform, order, concurrency, retry, whenDead, timeout, start, afterRewind, lateAfter, settle, receipts, digest, handle, handleDigest, close.',
    ],
    [
      'no handle',
      { name: 'greet' },
      'handle of defineHandler "greet": found nothing; allowed: a function, handle(event, context) { … }.',
    ],
    [
      'handle as text',
      { name: 'greet', handle: 'x' },
      'handle of defineHandler "greet": found "x"; allowed: a function, handle(event, context) { … }.',
    ],
  ])('defineHandler: refuses %s in one sentence', (_what, options, sentence) => {
    const call = (): unknown => defineHandler(options as HandlerOptions<readonly ['crm.*']> & { handle: unknown });
    expect(call).toThrow(expect.objectContaining({ code: 'CF_CONFIG_INVALID', message: sentence }));
  });
});
