import { describe, expect, expectTypeOf, it } from 'vitest';
import { parseConfig } from '../../src/config/parse.js';
import { defineHandler } from '../../src/handlers/define.js';
import { defineDerive } from '../../src/handlers/derive.js';
import { sampleEvent } from '../support/handler-fixtures.js';

const workspace = { name: 'acme', baseUrl: 'https://crm.example/api', token: 'token' };
const promotions = defineDerive({ name: 'promotions', emits: ['acme.person.promoted'], derive: () => undefined });
const config = (more: object) => parseConfig({ workspaces: [workspace], ...more }, { source: 'the test' });

describe('defineDerive', () => {
  it('defineDerive: selects like a subscription, in order per record, and never derived events', () => {
    const event = sampleEvent();
    expect(promotions).toMatchObject({ name: 'promotions', handler: 'derive', on: ['crm.*'], order: 'record' });
    expect(promotions.where?.(event)).toBe(true);
    expect(promotions.where?.({ ...event, data: { ...event.data, derivedBy: 'promotions' } })).toBe(false);
    const picky = defineDerive({ name: 'p', emits: ['acme.todo.won'], where: { type: 'x' }, derive: () => undefined });
    expect(picky.where?.(event)).toBe(false);
  });

  it.each([
    [
      { emits: ['crm.person.promoted'] },
      /emits\[0\] of defineDerive "d": found "crm\.person\.promoted"; allowed: <yours>\.<object>\.<verb>/,
    ],
    [{ emits: ['acme.person.created'] }, /found "acme\.person\.created"; .* the verb none of created/],
    [{ emits: [] }, /allowed: an array of one or more event types of your own/],
    [{ order: 'none' }, /order of defineDerive "d": there is no such option/],
    [{ derive: 'x' }, /derive of defineDerive "d": found "x"/],
  ])('refuses %j', (wrong, message) => {
    const options = { name: 'd', emits: ['acme.person.promoted'], derive: () => undefined, ...wrong };
    expect(() => defineDerive(options as never)).toThrow(message);
  });

  it('defineDerive: subscriptions can select its types, also in TypeScript', () => {
    const handler = defineHandler({
      name: 'cheer',
      on: ['acme.person.promoted', 'crm.person.created'],
      handle(event) {
        expectTypeOf(event.type).toEqualTypeOf<'acme.person.promoted' | 'crm.person.created'>();
        if (event.type === 'acme.person.promoted') expectTypeOf(event.data.derivedBy).toEqualTypeOf<string>();
      },
    });
    expect(config({ derive: [promotions], subscriptions: [handler] }).derive).toMatchObject([
      { ...promotions, where: expect.any(Function) as unknown },
    ]);
    const ndjson = { handler: 'ndjson', name: 'out', on: ['acme.*'] };
    expect(config({ derive: [promotions], subscriptions: [ndjson] }).subscriptions[0]?.on).toEqual(['acme.*']);
  });

  it.each([
    [
      { subscriptions: [{ handler: 'ndjson', name: 'out', on: ['acme.person.sacked'] }] },
      /subscriptions\[0\]\.on\[0\]: found "acme\.person\.sacked", which nothing emits/,
    ],
    [{ derive: [promotions, promotions] }, /derive\[1\]\.name: found "promotions", the name of derive\[0\] too/],
    [
      { derive: [promotions], subscriptions: [{ handler: 'ndjson', name: 'promotions' }] },
      /derive\[0\]\.name: found "promotions", the name of subscriptions\[0\] too/,
    ],
    [{ derive: [{ name: 'x' }] }, /derive\[0\]: found an object.*; allowed: in code, what defineDerive returns/],
    [{ derive: {} }, /derive: found .*; allowed: an array of what defineDerive returns/],
  ])('refuses a configuration with %j', (wrong, message) => {
    expect(() => config(wrong)).toThrow(message);
  });
});
