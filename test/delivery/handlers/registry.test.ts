import { describe, expect, it } from 'vitest';
import { defineHandler } from '../../../src/delivery/handlers/define.js';
import { buildSubscription } from '../../../src/delivery/handlers/registry.js';

describe('subscriptions entry', () => {
  it('subscriptions entry: accepts a subscription built in code, also by another copy of the package', () => {
    const own = defineHandler({ name: 'own', handle: () => undefined });
    const foreign = { ...own };
    expect(buildSubscription(own)).toBe(own);
    expect(buildSubscription(foreign)).toBe(foreign);
  });
});
