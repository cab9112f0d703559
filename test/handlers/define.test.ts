import { describe, expect, it } from 'vitest';
import { defineHandler, type HandlerOptions } from '../../src/handlers/define.js';
import { batchContext, handlerContext, sampleEvent } from '../support/handler-fixtures.js';

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

  it('defineHandler: handleBatch receives many events, or a single one', async () => {
    const seen: string[][] = [];
    const subscription = defineHandler({
      name: 'all',
      handleBatch: (events, { about }) => void seen.push(events.map((event) => `${event.id} ${about(event).attempt}`)),
    });
    const event = sampleEvent();
    expect(subscription.batch).toMatchObject({ size: 100, lingerMs: 1_000 });
    await subscription.batch?.handle([event, event], batchContext());
    await subscription.handle(event, handlerContext({ attempt: 3 }));
    expect(seen).toEqual([[`${event.id} 1`, `${event.id} 1`], [`${event.id} 3`]]);
  });

  it.each<[string, unknown, string]>([
    [
      'both kinds of handler',
      { name: 'greet', handle: () => undefined, handleBatch: () => undefined },
      'handle of defineHandler "greet": found a function; allowed: a function, handle(event, context) { … }, or handleBatch in its place.',
    ],
    [
      'a batch without a handler for it',
      { name: 'greet', handle: () => undefined, batch: {} },
      'batch of defineHandler "greet": this handler takes events one by one; leave it out.',
    ],
    [
      'no options',
      undefined,
      'defineHandler without a name: found nothing; allowed: an object with name, on, workspaces, lists, class, fields, from, notFrom, where, transform, order, concurrency, retry, whenDead, timeout, start, afterRewind, settle, batch, handle, handleBatch, close.',
    ],
    [
      'no handle',
      { name: 'greet' },
      'handle of defineHandler "greet": found nothing; allowed: a function, handle(event, context) { … }, or handleBatch in its place.',
    ],
    [
      'handle as text',
      { name: 'greet', handle: 'x' },
      'handle of defineHandler "greet": found "x"; allowed: a function.',
    ],
  ])('defineHandler: refuses %s in one sentence', (_what, options, sentence) => {
    const call = (): unknown => defineHandler(options as HandlerOptions<readonly ['crm.*']>);
    expect(call).toThrow(expect.objectContaining({ code: 'CF_CONFIG_INVALID', message: sentence }));
  });
});
