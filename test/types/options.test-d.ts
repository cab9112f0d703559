/** What the compiler and the editor know of the options of a configuration. Nothing here runs: `npm run typecheck` compiles it. */
import { describe, expectTypeOf, it } from 'vitest';
import { defineConfig, defineHandler, loadConfig, webhook } from '../../src/index.js';
import type { ConfigInput, Duration, EventPattern, EventType, LoadedConfig, NoticeType } from '../../src/index.js';

type ListsOf = NonNullable<ConfigInput['workspaces'][number]['lists']>;
type WebhookOn = NonNullable<Parameters<typeof webhook>[0]['on']>[number];
type HandlerOn = NonNullable<Parameters<typeof defineHandler>[0]['on']>[number];

const workspace = { name: 'acme', baseUrl: 'https://crm.example', token: 't' };

describe('types of options', () => {
  it('offers every event type in `on`, takes the types of your own, and refuses misspelt ones', () => {
    expectTypeOf<EventType | NoticeType | 'crm.*' | 'crm.person.*'>().toExtend<EventPattern>();
    expectTypeOf<WebhookOn>().toEqualTypeOf<EventPattern>();
    expectTypeOf<'crm.todo.completed'>().toExtend<HandlerOn>();
    expectTypeOf<'crm.deal.created'>().toExtend<EventPattern>();
    expectTypeOf<'crm.deal.schema_changed' | 'crm.deal.*' | '*' | '*.created'>().toExtend<EventPattern>();
    expectTypeOf<
      'acme.person.promoted' | 'contoso.a.b' | 'crmx.a.b' | 'cr.a.b' | 'chat.a.b'
    >().toExtend<EventPattern>();
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

  it('loads a configuration without arguments', () => {
    expectTypeOf(loadConfig()).toEqualTypeOf<Promise<LoadedConfig>>();
  });
});
