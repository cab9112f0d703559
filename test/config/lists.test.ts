import { describe, expect, it } from 'vitest';
import { parseConfig } from '../../src/config/parse.js';
import { USUAL } from '../../src/crm/lists/descriptor.js';
import { LIST_NAMES, readyMadeLists } from '../../src/crm/lists/lists.js';
import { ChangefeedError, defineList } from '../../src/index.js';
import { meantList } from '../../src/crm/lists/list-name.js';
import { problemsIn } from '../../src/kit/schema/problem.js';

const workspace = { name: 'acme', baseUrl: 'https://crm.example/api', token: 'token' };
const parse = (lists: object, more: object = {}) =>
  parseConfig({ workspaces: [{ ...workspace, lists }], ...more }, { source: 'the test' });

function errorOf(act: () => unknown): ChangefeedError {
  try {
    act();
  } catch (error) {
    if (error instanceof ChangefeedError) return error;
  }
  throw new Error('nothing was thrown');
}

describe('lists: the name that was meant', () => {
  it.each([
    ['peopel', ' (did you mean "people"?)'],
    ['person', ' (did you mean "people"?)'],
    ['tood', ' (did you mean "todo"?)'],
    // Half of the letters of the name are in it, but most of its own are not.
    ['nope', ''],
    ['xyz', ''],
  ])('lists: %s', (text, meant) => {
    expect(meantList(text)).toBe(meant);
  });
});

describe('lists: a list of your own', () => {
  it('lists: an added list has a descriptor and the usual options', () => {
    const { deals } = parse({ deals: { path: '/v2/deal', object: 'deal', interval: '1m', ignore: ['x'] } })
      .workspaces[0]!.lists;
    expect(deals).toMatchObject({ enabled: true, intervalMs: 60_000, ignore: ['x'], images: true });
    expect(deals?.descriptor).toEqual({ ...USUAL, name: 'deals', path: 'v2/deal', key: null, object: 'deal' });
  });

  it('lists: an added list may come from defineList, with options of the workspace', () => {
    const deal = defineList()({ name: 'deal', path: 'deal', key: 'dealList', modifiedAt: ['changed'] });
    const { lists } = parse({ deal: { ...deal, interval: '1m' } }).workspaces[0]!;
    expect(lists['deal']?.descriptor).toMatchObject({ key: 'dealList', object: 'deal', modifiedAt: ['changed'] });
  });

  it.each<[string, object, string | RegExp]>([
    ['no path', { offer: {} }, /lists\.offer: there is no such list.*; or any name with a `path`/],
    ['a built-in name', { memo: { path: 'deal' } }, 'lists.memo.path: the list "memo" is built in;'],
    [
      'a built-in path',
      { deal: { path: 'deal/history' } },
      'lists.deal.path: found "deal/history", the path of the list "history"',
    ],
    [
      'a taken object',
      { deal: { path: 'deal', object: 'person' } },
      'lists.deal.object: found "person", the object of the list "people"',
    ],
    [
      'the same path twice',
      { a: { path: 'deal' }, b: { path: 'deal' } },
      'lists.b.path: found "deal", the path of the list "a"',
    ],
    [
      'the same object twice',
      { a: { path: 'a', object: 'x' }, b: { path: 'b', object: 'x' } },
      'lists.b.object: found "x"',
    ],
    [
      'an object that is no word',
      { deal: { path: 'deal', object: 'my.deal' } },
      'lists.deal.object: found "my.deal"; allowed: one word',
    ],
    ['a name that is no word', { 'a deal': { path: 'deal' } }, 'lists["a deal"]: this cannot be the name of a list'],
    [
      'another name inside',
      { deal: { path: 'deal', name: 'deals' } },
      'lists.deal.name: found "deals"; allowed: "deal"',
    ],
    ...['../v1/deal', 'a/../b', 'https://evil.example/deal', 'deal?x=1', '', 'a//b', 'deal/'].map(
      (path) =>
        [`the path ${JSON.stringify(path)}`, { deal: { path } }, 'lists.deal.path: found'] satisfies [
          string,
          object,
          string,
        ],
    ),
  ])('lists: an added list with %s is refused', (_what, lists, message) => {
    expect(() => parse(lists)).toThrow(message);
  });

  it('lists: an added list has the same object in all workspaces', () => {
    const workspaces = [
      { ...workspace, lists: { deal: { path: 'deal', object: 'deal' } } },
      { ...workspace, name: 'other', lists: { deal: { path: 'deal', object: 'sale' } } },
    ];
    expect(() => parseConfig({ workspaces }, { source: 'the test' })).toThrow(
      'workspaces[1].lists.deal.object: found "sale", but workspace "acme" has "deal" as the object of the list "deal"',
    );
  });

  it('has one path in all workspaces when the mirror serves them at one address', () => {
    const of = (second: object) => ({
      workspaces: [
        { ...workspace, lists: { deal: { path: 'deal' } } },
        { ...workspace, name: 'other', lists: second },
      ],
    });
    const serve = { port: 8_080, token: { acme: 'token-of-acme-0123456789', other: 'token-of-other-0123456789' } };
    const parseBoth = (second: object, more: object) =>
      parseConfig({ ...of(second), ...more }, { source: 'the test' }).workspaces[1]?.lists;
    const [samePath, sameName] = [{ offer: { path: 'deal' } }, { deal: { path: 'sales/deal' } }];
    expect(() => parseBoth(samePath, { serve })).toThrow(
      'workspaces[1].lists.offer.path: found "deal", but workspace "acme" has "deal" as the path of the list "deal"; allowed: the same name and path in every workspace, because "serve" offers them at one address.',
    );
    expect(() => parseBoth(sameName, { serve })).toThrow(
      'workspaces[1].lists.deal.path: found "sales/deal", but workspace "acme" has "deal" as the path of the list "deal"',
    );
    expect(parseBoth(samePath, {})?.['offer']?.descriptor.path).toBe('v2/deal');
    expect(parseBoth(sameName, {})?.['deal']?.descriptor.path).toBe('v2/sales/deal');
  });
});

describe('lists: a ready-made list', () => {
  const listsOf = (lists: object) => parse(lists).workspaces[0]!.lists;

  it('lists: a ready-made list is off unless it is named', () => {
    expect(Object.keys(listsOf({}))).toEqual([...LIST_NAMES]);
  });

  it.each([
    ['true', { people_history: true }, { enabled: true, intervalMs: null }],
    ['its options', { people_history: { interval: '1m' } }, { enabled: true, intervalMs: 60_000 }],
    ['its path', { 'people/history': true }, { enabled: true }],
    ['false', { people_history: false }, { enabled: false }],
  ])('lists: a ready-made list is switched by %s', (_what, lists, options) => {
    const { people_history } = listsOf(lists);
    expect(people_history).toMatchObject({ ...options, images: false });
    expect(people_history?.descriptor).toEqual(readyMadeLists.byName('people_history'));
  });

  it('lists: rows of the ready-made histories are not stored unless it is asked for', () => {
    const { deal, lead_history } = listsOf({ deal: true, lead_history: { images: true } });
    expect([deal?.images, lead_history?.images]).toEqual([true, true]);
  });

  it('lists: a list of your own with the name of a ready-made one stays your own', () => {
    const path = 'people/history';
    const { people_history } = listsOf({
      people_history: { path, key: 'peopleHistoryList', object: 'person_history' },
    });
    const own = {
      name: 'people_history',
      path: 'v2/people/history',
      key: 'peopleHistoryList',
      object: 'person_history',
    };
    expect(people_history).toMatchObject({ images: true });
    expect(people_history?.descriptor).toEqual({ ...USUAL, ...own });
  });

  it.each<[string, object, string]>([
    ['a description', { deal: { key: 'deals' } }, 'lists.deal.key: the list "deal" is ready-made; leave this out'],
    [
      'a name that is nearly right',
      { deals: true },
      'lists.deals: there is no such list (did you mean "deal"?); allowed: people,',
    ],
    [
      'the path of another list',
      { offer: { path: 'deal' }, deal: true },
      'lists.deal.path: found "deal", the path of the list "offer"',
    ],
    [
      'the object of another list',
      { offer: { path: 'offer', object: 'deal' }, deal: true },
      'lists.deal.object: found "deal", the object of the list "offer"',
    ],
    ['no switch', { deal: 'yes' }, 'lists.deal: found "yes"; allowed: true or false, or { enabled,'],
  ])('lists: a ready-made list with %s is refused', (_what, lists, message) => {
    expect(() => parse(lists)).toThrow(message);
  });

  it('lists: a subscription to a ready-made list that is off is told how to switch it on', () => {
    const subscription = { handler: 'ndjson', name: 'a', on: ['crm.deal.*'], lists: ['people_history'] };
    const found = problemsIn(errorOf(() => parse({}, { subscriptions: [subscription] })));
    expect(found.map(({ suggestion }) => suggestion)).toEqual([
      'A workspace with lists: { deal: true } has this list.',
      'A workspace with lists: { people_history: true } has this list.',
    ]);
    expect(parse({ deal: true, people_history: true }, { subscriptions: [subscription] }).subscriptions).toHaveLength(
      1,
    );
  });
});

describe('lists: what a subscription selects', () => {
  const types =
    'crm.<object>.<verb>, with * for any run of characters; objects: person, organization, memo, todo, deal_history, person_activity; verbs: created, updated, deleted, snapshot, schema_changed; of todos also completed, reopened, rescheduled, reassigned, due_soon, overdue';
  const out = { handler: 'ndjson', name: 'a' };

  it.each([
    [
      { on: ['crm.*', 'crm.people.created'] },
      `subscriptions[0].on[1] of ndjson "a": found "crm.people.created"; allowed: ${types} (did you mean "crm.person.created"?).`,
    ],
    [
      { on: ['crm.activity.*'] },
      `subscriptions[0].on[0] of ndjson "a": found "crm.activity.*"; allowed: ${types} (did you mean "crm.person_activity.*"?).`,
    ],
    [
      { lists: ['todos'] },
      'subscriptions[0].lists[0] of ndjson "a": found "todos"; allowed: people, organization, memo, todo, history, activity, or the path of one (did you mean "todo"?).',
    ],
    [
      { handler: 'postgres', url: 'postgres://u@h/d', tables: { todos: 'x' } },
      /subscriptions\[0\] of postgres "a": found "todos" as a list in the options; .*did you mean "todo"/,
    ],
  ])('lists: a subscription with an unknown list is refused: %j', (options, message) => {
    expect(() => parse({}, { subscriptions: [{ ...out, ...options }] })).toThrow(message);
  });

  it('lists: a subscription selects an added list by name, path or type', () => {
    const lists = { deals: { path: 'deal', object: 'deal' } };
    const [one] = parse(lists, {
      subscriptions: [{ ...out, on: ['crm.deal.created'], lists: ['deal'] }],
    }).subscriptions;
    expect(one).toMatchObject({ on: ['crm.deal.created'], lists: ['deals'] });
  });
});
