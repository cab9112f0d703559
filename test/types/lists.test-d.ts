/** What a handler knows of the events of a list that is not built in. Nothing here runs: `npm run typecheck` compiles it. */
import { describe, expectTypeOf, it } from 'vitest';
import { defineConfig, defineHandler, defineList, webhook } from '../../src/index.js';
import type { ListName } from '../../src/index.js';

interface Deal {
  금액: number;
  상태: 'open' | 'won';
}

const deal = defineList<Deal>()({ name: 'deal', path: 'deal', key: 'dealList' });
const lead = defineList()({ name: 'leads', path: 'lead', object: 'lead', interval: '1m' });

describe('defineList: events of a list of your own', () => {
  it('have the type of its records', () => {
    defineHandler({
      name: 'deals',
      lists: [deal],
      on: ['crm.deal.*'],
      handle(event) {
        expectTypeOf(event.type).toEqualTypeOf<`crm.deal.${'created' | 'updated' | 'deleted' | 'snapshot'}`>();
        if (event.type === 'crm.deal.deleted') {
          expectTypeOf(event.data.after).toEqualTypeOf<null>();
          expectTypeOf(event.data.before).toEqualTypeOf<(Deal & { readonly id: string }) | null>();
          return;
        }
        expectTypeOf(event.data.after.금액).toEqualTypeOf<number>();
        expectTypeOf(event.data.after.id).toEqualTypeOf<string>();
        if (event.type === 'crm.deal.created') expectTypeOf(event.data.before).toEqualTypeOf<null>();
        // @ts-expect-error A deal has no such field.
        expectTypeOf(event.data.after.unknown);
      },
    });
  });

  it('are the only ones where no other list is named', () => {
    defineHandler({ name: 'all', lists: [deal], handle: ({ data }) => void expectTypeOf(data.after?.상태) });
    defineHandler({
      name: 'created',
      lists: [deal],
      on: ['*.created'],
      handle: ({ type }) => void expectTypeOf(type).toEqualTypeOf<'crm.deal.created'>(),
    });
    defineHandler({
      name: 'schema',
      lists: [deal],
      on: ['crm.deal.schema_changed'],
      handle: ({ data }) => void expectTypeOf(data.schema.field).toEqualTypeOf<string>(),
    });
  });

  it('have their own types in a handler of built-in lists too', () => {
    defineHandler({
      name: 'both',
      lists: ['people', deal, lead],
      on: ['crm.person.created', 'crm.deal.created', 'crm.lead.deleted'],
      handle(event) {
        expectTypeOf(event.type).toEqualTypeOf<'crm.person.created' | 'crm.deal.created' | 'crm.lead.deleted'>();
        if (event.type === 'crm.deal.created') expectTypeOf(event.data.after.금액).toEqualTypeOf<number>();
        if (event.type === 'crm.person.created') expectTypeOf(event.data.after['금액']).toEqualTypeOf<unknown>();
      },
    });
  });

  it('come with a snapshot where the subscription starts with one', () => {
    defineHandler({
      name: 'snapshot',
      lists: [deal],
      on: ['crm.deal.deleted'],
      start: 'snapshot',
      handle: ({ type }) => void expectTypeOf(type).toEqualTypeOf<'crm.deal.deleted' | 'crm.deal.snapshot'>(),
    });
  });

  it('need no more of a configuration than the definition itself', () => {
    defineConfig({
      workspaces: [
        { name: 'a', baseUrl: 'https://crm.example', token: 't', lists: { deal, leads: { ...lead, enabled: false } } },
      ],
      subscriptions: [webhook({ name: 'w', url: 'https://a.example', secret: 'whsec_x', lists: [deal, 'memo'] })],
    });
  });
});

describe('ListName', () => {
  it('takes any name and completes the built-in ones', () => {
    expectTypeOf<'people'>().toExtend<ListName>();
    expectTypeOf<'deal'>().toExtend<ListName>();
    expectTypeOf<string>().toExtend<ListName>();
  });
});
