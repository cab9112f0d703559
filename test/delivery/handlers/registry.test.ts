import { describe, expect, it } from 'vitest';
import { defineHandler } from '../../../src/delivery/handlers/define.js';
import { buildSubscription } from '../../../src/delivery/handlers/registry.js';

const secret = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;

describe('subscriptions entry', () => {
  it('subscriptions entry: accepts a subscription built in code, also by another copy of the package', () => {
    const own = defineHandler({ name: 'own', handle: () => undefined });
    const foreign = { ...own };
    expect(buildSubscription(own)).toBe(own);
    expect(buildSubscription(foreign)).toBe(foreign);
  });

  it('subscriptions entry: accepts a built-in handler as data', () => {
    const url = 'https://ops.example/hooks';
    const webhook = buildSubscription({ handler: 'webhook', name: 'ops', url, secret, on: ['crm.todo.*'] });
    const ndjson = buildSubscription({ handler: 'ndjson', name: 'out', path: 'events.ndjson' });
    expect(webhook).toMatchObject({ name: 'ops', handler: 'webhook', on: ['crm.todo.*'] });
    expect(webhook.retry).toEqual({ attempts: 15, delayMs: 5_000, maxDelayMs: 14_400_000 });
    expect(ndjson).toMatchObject({ name: 'out', handler: 'ndjson', on: ['crm.*'] });
  });
});
