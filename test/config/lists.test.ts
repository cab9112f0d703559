import { describe, expect, it } from 'vitest';
import { parseConfig } from '../../src/config/parse.js';
import { USUAL } from '../../src/crm/lists/descriptor.js';
import { LIST_NAMES, readyMadeLists } from '../../src/crm/lists/lists.js';
import { defineList } from '../../src/index.js';
import { meantList } from '../../src/crm/lists/list-name.js';

const workspace = { name: 'acme', baseUrl: 'https://crm.example/api', token: 'token' };
const parse = (lists: object, more: object = {}) =>
  parseConfig({ workspaces: [{ ...workspace, lists }], ...more }, { source: 'the test' });

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
    expect(deals).toMatchObject({ enabled: true, intervalMs: 60_000, ignore: ['x'] });
    expect(deals?.descriptor).toEqual({ ...USUAL, name: 'deals', path: 'v2/deal', key: null, object: 'deal' });
  });

  it('lists: an added list may come from defineList, with options of the workspace', () => {
    const deal = defineList()({ name: 'deal', path: 'deal', key: 'dealList', modifiedAt: ['changed'] });
    const { lists } = parse({ deal: { ...deal, interval: '1m' } }).workspaces[0]!;
    expect(lists['deal']?.descriptor).toMatchObject({ key: 'dealList', object: 'deal', modifiedAt: ['changed'] });
  });

  it.each([
    ['path', { offer: { path: 'deal' } }, { offer: 'v2/deal' }],
    ['name', { deal: { path: 'sales/deal' } }, { deal: 'v2/sales/deal' }],
  ])('lists: two workspaces may give one %s to two lists, where no mirror serves them', (_what, second, paths) => {
    const workspaces = [
      { ...workspace, lists: { deal: { path: 'deal' } } },
      { ...workspace, name: 'other', lists: second },
    ];
    const { lists } = parseConfig({ workspaces }, { source: 'the test' }).workspaces[1]!;
    for (const [name, path] of Object.entries(paths)) expect(lists[name]?.descriptor.path).toBe(path);
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
    expect(people_history).toMatchObject(options);
    expect(people_history?.descriptor).toEqual(readyMadeLists.byName('people_history'));
  });

  it('lists: of the rows of the ready-made histories, only the keys are stored', () => {
    const { deal, lead_history } = listsOf({ deal: true, lead_history: true });
    expect([deal, lead_history].map((list) => list?.descriptor.recognisedOnly)).toEqual([false, true]);
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
    expect(people_history?.descriptor).toEqual({ ...USUAL, ...own });
  });
});

describe('lists: what a subscription selects', () => {
  const out = { handler: 'ndjson', name: 'a' };

  it('lists: a subscription selects an added list by name, path or type', () => {
    const lists = { deals: { path: 'deal', object: 'deal' } };
    const [one] = parse(lists, {
      subscriptions: [{ ...out, on: ['crm.deal.created'], lists: ['deal'] }],
    }).subscriptions;
    expect(one).toMatchObject({ on: ['crm.deal.created'], lists: ['deals'] });
  });
});
