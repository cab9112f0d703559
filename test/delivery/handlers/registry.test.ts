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

  const kinds = '"bullmq", "message", "ndjson", "postgres", "todoReport", or "webhook"';
  const own = 'handlers written in code need a configuration file in TypeScript or JavaScript';
  it.each<[string, unknown, string]>([
    [
      'text',
      'ops',
      `found a string of 3 characters; allowed: what defineHandler or a built-in handler such as webhook returns, or an object with "handler": ${kinds}.`,
    ],
    [
      'an array',
      [],
      `found an array of 0; allowed: what defineHandler or a built-in handler such as webhook returns, or an object with "handler": ${kinds}.`,
    ],
    [
      'an unwrapped handler',
      { name: 'a', handle: () => undefined },
      'found a plain object with a handle function; wrap it: defineHandler({ … }).',
    ],
    ['no handler', { name: 'a' }, `handler: found nothing; allowed: ${kinds}; ${own}.`],
    [
      'a misspelled handler',
      { name: 'a', handler: 'webhok' },
      `handler: found "webhok"; allowed: ${kinds} (did you mean "webhook"?); ${own}.`,
    ],
    ['custom as data', { name: 'a', handler: 'custom', on: [] }, `handler: found "custom"; allowed: ${kinds}; ${own}.`],
    [
      'a bad option',
      { name: 'a', handler: 'webhook', url: 'ftp://h/', secret },
      'url of webhook "a": found a string of 8 characters; allowed: a URL that begins with https://.',
    ],
  ])('subscriptions entry: refuses %s, with its path', (_what, raw, sentence) => {
    expect(() => buildSubscription(raw)).toThrow(
      expect.objectContaining({ code: 'CF_CONFIG_INVALID', message: sentence }),
    );
  });
});
