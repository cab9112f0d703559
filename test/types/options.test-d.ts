/** What the compiler and the editor know of the options of a configuration. Nothing here runs: `npm run typecheck` compiles it. */
import { describe, expectTypeOf, it } from 'vitest';
import { defineConfig, defineHandler, loadConfig, webhook } from '../../src/index.js';
import type {
  Actor,
  Conditions,
  ConfigInput,
  Duration,
  EventPattern,
  EventType,
  LoadedConfig,
  NoticeType,
} from '../../src/index.js';

type ListsOf = NonNullable<ConfigInput['workspaces'][number]['lists']>;
type WebhookOn = NonNullable<Parameters<typeof webhook>[0]['on']>[number];
type HandlerOn = NonNullable<Parameters<typeof defineHandler>[0]['on']>[number];

const workspace = { name: 'acme', baseUrl: 'https://crm.example', token: 't' };

describe('types of options', () => {
  it('switches ready-made and other lists on and off, and knows their events', () => {
    defineConfig({
      workspaces: [{ ...workspace, lists: { people_history: true, deal: { interval: '1m' }, memo: false } }],
    });
    expectTypeOf<'people_history' | 'deal' | 'people'>().toExtend<keyof ListsOf>();
    expectTypeOf<'crm.person_history.created' | 'crm.deal.updated' | 'crm.lead.deleted'>().toExtend<EventType>();
    defineHandler({
      name: 'deals',
      on: ['crm.deal.updated'],
      handle: ({ data }) => void expectTypeOf(data.actor).toEqualTypeOf<Actor | undefined>(),
    });
    defineHandler({
      name: 'gone',
      on: ['crm.deal.deleted'],
      handle: ({ data }) => void expectTypeOf(data.actor).toEqualTypeOf<undefined>(),
    });
  });

  it('knows the conditions over before and after', () => {
    const on = (where: Conditions) => webhook({ name: 'a', url: 'https://a.example', secret: 's', where });
    on({ 금액: { rises: true, by: '20%' }, any: [{ 등급: { from: 'B', to: ['A', 'S'] } }], 'after.유형': '전화' });
    // @ts-expect-error -- a share ends in %
    on({ 금액: { rises: true, by: '20' } });
  });

  it('knows the kinds of actors in `from` and `notFrom`', () => {
    const handle = (): void => undefined;
    defineHandler({ name: 'a', from: ['user', 'unknown'], notFrom: [{ type: 'api', id: 'k-1' }], handle });
    // @ts-expect-error There is no such kind.
    defineHandler({ name: 'a', from: ['users'], handle });
    // @ts-expect-error An id alone does not say whose it is.
    defineHandler({ name: 'a', notFrom: [{ id: 'k-1' }], handle });
  });

  it('offers every event type in `on`, and refuses misspelt ones', () => {
    expectTypeOf<EventType | NoticeType | 'crm.*' | 'crm.person.*'>().toExtend<EventPattern>();
    expectTypeOf<WebhookOn>().toEqualTypeOf<EventPattern>();
    expectTypeOf<'crm.todo.completed'>().toExtend<HandlerOn>();
    expectTypeOf<'crm.deal.created'>().toExtend<EventPattern>();
    expectTypeOf<'crm.deal.schema_changed' | 'crm.deal.*' | '*' | '*.created'>().toExtend<EventPattern>();
    expectTypeOf<'acme.person.promoted'>().not.toExtend<EventPattern>();
    expectTypeOf<'crm.todo.complete'>().not.toExtend<EventPattern>();
    expectTypeOf<'crm.deal.completed'>().not.toExtend<EventPattern>();
    expectTypeOf<'changefeed.state.loss'>().not.toExtend<EventPattern>();
    expectTypeOf<'nonsense'>().not.toExtend<EventPattern>();
    // @ts-expect-error The verb is `completed`.
    defineHandler({ name: 'x', on: ['crm.todo.complete'], handle: () => undefined });
    // @ts-expect-error A pattern is a text.
    webhook({ name: 'x', url: 'https://x', secret: 'whsec_', on: [1] });
  });

  it('knows the built-in lists and their options, and takes lists of your own', () => {
    expectTypeOf<'people' | 'todo'>().toExtend<keyof ListsOf>();
    defineConfig({ workspaces: [{ ...workspace, lists: { people: { interval: '30s' }, deal: { path: 'deal' } } }] });
    // @ts-expect-error There is no such option.
    defineConfig({ workspaces: [{ ...workspace, lists: { people: { intervall: '30s' } } }] });
  });

  it('wants a unit in a duration', () => {
    expectTypeOf<'250ms' | '30s' | '1.5h' | '7 d'>().toExtend<Duration>();
    expectTypeOf<'30'>().not.toExtend<Duration>();
    expectTypeOf<'5 fortnights'>().not.toExtend<Duration>();
    // @ts-expect-error A unit is missing.
    defineHandler({ name: 'x', timeout: '30', handle: () => undefined });
    // @ts-expect-error There is no such unit.
    defineConfig({ workspaces: [{ ...workspace, lists: { people: { interval: '5x' } } }] });
  });

  it('knows the events of a digest, and wants handle or handleDigest', () => {
    defineHandler({
      name: 'x',
      on: ['crm.todo.completed'],
      digest: { at: '09:00', days: 'mon-fri' },
      handleDigest({ first, events }) {
        expectTypeOf(first[0]?.type).toEqualTypeOf<'crm.todo.completed' | undefined>();
        expectTypeOf(events()).toEqualTypeOf<AsyncIterable<(typeof first)[number]>>();
      },
    });
    // @ts-expect-error It has no handler.
    defineHandler({ name: 'x' });
    // @ts-expect-error A digest is handled by handleDigest.
    defineHandler({ name: 'x', digest: { every: '1h' } });
    // @ts-expect-error A unit is missing.
    defineHandler({ name: 'x', digest: { every: '60' }, handleDigest: () => undefined });
  });

  it('loads a configuration without arguments', () => {
    expectTypeOf(loadConfig()).toEqualTypeOf<Promise<LoadedConfig>>();
  });
});
