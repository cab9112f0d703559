import { describe, expect, it } from 'vitest';
import { defineHandler } from '../../../src/delivery/handlers/define.js';
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
});
