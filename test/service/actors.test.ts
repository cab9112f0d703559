/** Who made a change, from the CRM's answers over HTTP to a handler. */
import { describe, expect, it, onTestFinished } from 'vitest';
import type { Changefeed } from '../../src/actions/feed.js';
import type { Actor } from '../../src/events/types.js';
import { defineHandler, type Subscription } from '../../src/index.js';
import { startApiServer } from '../support/api-server.js';
import { eventually } from '../support/eventually.js';
import { baselined, eventsOf, openFeed } from '../support/feed.js';
import { isGate } from '../support/night.js';
import { useRedis } from '../support/redis.js';

const USER: Actor = { type: 'user', id: 'u-1', name: '담당A' };
const OURS: Actor = { type: 'api', id: 'key-1', name: '연동' };
const KEYS: Readonly<Record<string, string>> = {
  '/v2/people': 'peopleList',
  '/v2/people/history': 'peopleHistoryList',
};
const PAGE = 50;
const WRITES = isGate ? 50 : 1_000;

type Fields = Record<string, unknown>;

interface Crm {
  baseUrl: string;
  people: Fields[];
  history: Fields[];
  refuse: { status: number } | null;
  edit: (id: string, fields: Fields, by: Actor, rows?: (row: Fields) => Fields[]) => void;
}

async function startCrm(persons: number): Promise<Crm> {
  const at = '2026-03-01T09:00:00.123Z';
  const people: Fields[] = Array.from({ length: persons }, (_, n) => ({
    ...{ id: `p-${n}`, 이름: `사람 ${n}`, 등급: 'B', 점수: 0, '수정 날짜': at },
  }));
  const history: Fields[] = [];
  const crm: Crm = {
    baseUrl: '',
    people,
    history,
    refuse: null,
    edit(id, fields, source, rows = (row) => [row]) {
      const now = new Date().toISOString();
      Object.assign(people.find((one) => one['id'] === id) ?? {}, fields, { '수정 날짜': now });
      for (const [fieldName, fieldValue] of Object.entries(fields)) {
        const row = { peopleId: id, type: 'editField', source, fieldName, fieldValue, createdAt: now };
        history.push(...rows({ id: `h-${history.length}`, ...row }));
      }
    },
  };
  const server = await startApiServer(({ url = '' }) => {
    const { pathname, searchParams } = new URL(url, 'http://crm.invalid');
    const key = KEYS[pathname];
    const isHistory = key === 'peopleHistoryList';
    if (key === undefined) return { status: 404, body: { success: false, message: 'Not Found' } };
    if (isHistory && crm.refuse !== null) return { ...crm.refuse, body: { success: false, message: 'Forbidden' } };
    const from = Number(searchParams.get('cursor') ?? 0);
    const all = isHistory ? history : people;
    const nextCursor = from + PAGE < all.length ? String(from + PAGE) : null;
    return { body: { success: true, data: { [key]: all.slice(from, from + PAGE), nextCursor } } };
  });
  onTestFinished(() => server[Symbol.asyncDispose]());
  return Object.assign(crm, { baseUrl: server.baseUrl });
}

describe('who made a change', () => {
  const redis = useRedis();

  async function open(crm: Crm, subscriptions: readonly Subscription[] = []): Promise<Changefeed> {
    const others = { organization: false, memo: false, todo: false, history: false, activity: false };
    const budget = { requests: 100_000, perSeconds: 1 };
    const workspace = { name: 'acme', baseUrl: crm.baseUrl, token: 't', budget };
    return await openFeed(redis, {
      workspaces: [{ ...workspace, lists: { ...others, people_history: true } }],
      subscriptions,
    });
  }

  async function sweep(feed: Changefeed, ...lists: string[]): Promise<void> {
    for (const list of lists)
      for (const { outcome } of await feed.sweep({ lists: [list] }))
        expect({ list, outcome }).toEqual({ list, outcome: 'complete' });
  }

  const actorsOf = async (feed: Changefeed): Promise<(Actor | null)[]> =>
    (await eventsOf(feed, ['crm.person.updated'])).map(({ data }) => data.actor ?? null);

  it('actor: an edited person has the actor of its row, and so has the row', async () => {
    const crm = await startCrm(3);
    const feed = await open(crm);
    await sweep(feed, 'people_history', 'people');
    crm.edit('p-1', { 등급: 'A', 이름: '새 이름' }, USER);
    await sweep(feed, 'people_history', 'people');
    expect(await actorsOf(feed)).toEqual([USER]);
    const rows = await eventsOf(feed, ['crm.person_history.created']);
    expect(rows.map(({ data }) => [data.actor, data.after?.['peopleId']])).toEqual([
      [USER, 'p-1'],
      [USER, 'p-1'],
    ]);
  });

  it('actor: an edit that is found before its row has none, and does not wait for it', async () => {
    const crm = await startCrm(3);
    const feed = await open(crm);
    await sweep(feed, 'people_history', 'people');
    crm.edit('p-1', { 등급: 'A' }, USER);
    await sweep(feed, 'people', 'people_history', 'people');
    expect(await actorsOf(feed)).toEqual([null]);
  });

  it('actor: the status says of how many edits it is known who made them', async () => {
    const crm = await startCrm(3);
    const feed = await open(crm);
    await feed.start();
    await baselined(feed);
    crm.edit('p-1', { 등급: 'A' }, USER);
    crm.edit('p-2', { 등급: 'A' }, USER, () => []);
    await eventually(async () => expect(await actorsOf(feed)).toHaveLength(2));
    const known = (await actorsOf(feed)).filter((actor) => actor !== null).length;
    await eventually(async () => {
      const [people] = (await feed.status()).workspaces[0]!.lists.filter(({ list }) => list === 'people');
      expect(people?.actors).toEqual({ known, of: 2 });
    });
  });

  it('actor: a history that is refused leaves the other lists as they are', async () => {
    const crm = await startCrm(3);
    const feed = await open(crm);
    await sweep(feed, 'people_history', 'people');
    crm.refuse = { status: 403 };
    crm.edit('p-1', { 등급: 'A' }, USER);
    const [refused] = await feed.sweep({ lists: ['people_history'] });
    expect(refused?.outcome).not.toBe('complete');
    await sweep(feed, 'people');
    expect(await actorsOf(feed)).toEqual([null]);
  });

  it.each([
    ['with notFrom, its own changes do not call it', { notFrom: [{ type: 'api', id: 'key-1' }] as const }, WRITES],
    ['without it, they do (control)', {}, 3 * WRITES],
  ])(`actor: a handler that writes back ${WRITES} times: %s`, async (_what, options, expected) => {
    const crm = await startCrm(WRITES);
    let calls = 0;
    const handler = defineHandler({
      name: 'score',
      on: ['crm.person.updated'],
      ...options,
      handle({ subject }) {
        calls += 1;
        crm.edit(subject, { 점수: calls }, OURS);
      },
    });
    const feed = await open(crm, [handler]);
    await sweep(feed, 'people_history', 'people');
    await feed.start(['dispatch', 'handle']);
    for (const { id } of crm.people) crm.edit(String(id), { 등급: 'A' }, USER);
    for (const handled of [WRITES, Math.min(expected, 2 * WRITES), expected]) {
      await sweep(feed, 'people_history', 'people');
      await eventually(() => expect(calls).toBe(handled));
    }
    await sweep(feed, 'people_history', 'people');
    const own = (await actorsOf(feed)).filter((actor) => actor?.type === 'api');
    expect(own).toHaveLength(expected);
  });
});
