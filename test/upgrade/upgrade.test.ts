/**
 * The state that a release has left is what the next one begins with. `state-2.json` has every key that this release's format wrote: lists with their
 * baselines, events that wait, one that runs never again, an offset. A release that changes the format keeps this test, and adds its own file:
 *
 *   WRITE_STATE=test/upgrade/state-3.json npx vitest run test/upgrade
 */
import { readFileSync, writeFileSync } from 'node:fs';
import type { Redis } from 'ioredis';
import { expect, it } from 'vitest';
import type { ChangeEvent } from '../../src/events/types.js';
import { PermanentError } from '../../src/delivery/handlers/errors.js';
import { defineHandler } from '../../src/delivery/handlers/define.js';
import { eventNumber } from '../support/delivered.js';
import { eventually } from '../support/eventually.js';
import { eventsOf, openFeed } from '../support/feed.js';
import { startOtherCrm, type OtherCrm } from '../support/other-crm.js';
import { useRedis } from '../support/redis.js';

const redis = useRedis();
const FILE = new URL('state-2.json', import.meta.url);
const WRITE_TO = process.env['WRITE_STATE'];

const NOW = '2026-03-01T10:00:00.000Z';

function open(crm: OtherCrm, handle: (event: ChangeEvent) => void) {
  const token = crm.token;
  const workspace = { name: 'acme', baseUrl: crm.url, token, budget: { requests: 10_000, perSeconds: 1 } };
  const retry = { attempts: 1 };
  return openFeed(redis, {
    workspaces: [workspace],
    subscriptions: [defineHandler({ name: 'all', on: ['crm.*'], retry, handle })],
  });
}

it.runIf(WRITE_TO !== undefined)('upgrade: writes the state of this release', async () => {
  const crm = await startOtherCrm();
  const feed = await open(crm, ({ subject }) => {
    if (subject === crm.lists.people[0]?.id) throw new PermanentError('never');
  });
  await feed.sweep();
  Object.assign(crm.lists.people[0]!, { 이름: 'dead', '수정 날짜': NOW });
  Object.assign(crm.lists.people[1]!, { 이름: 'handled', '수정 날짜': NOW });
  await feed.start(['dispatch', 'handle']);
  await feed.sweep();
  await eventually(async () => expect(await feed.deadLetters.list({ subscription: 'all' })).toHaveLength(1));
  await feed.pause('all', 'for the file');
  Object.assign(crm.lists.people[2]!, { 이름: 'waiting', '수정 날짜': NOW });
  crm.lists.memo.pop();
  await feed.sweep();
  await eventually(async () => expect((await feed.status()).subscriptions[0]?.lagEvents).toBe(1));
  await feed.stop();
  const crmOf = { lists: crm.lists, url: crm.url };
  writeFileSync(
    WRITE_TO ?? '',
    JSON.stringify({ prefix: redis.keys.prefix, ...crmOf, keys: await keysIn(redis.redis, redis.keys.prefix) }),
  );
});

interface Kept {
  prefix: string;
  url: string;
  lists: OtherCrm['lists'];
  /** Key → its dump. Written by Redis 7.0, which later ones read. */
  keys: Record<string, string>;
}

it('upgrade: the lists, the waiting events and the dead letters that the last release left are there', async () => {
  const kept = JSON.parse(readFileSync(FILE, 'utf8')) as Kept;
  const crm = await startOtherCrm();
  Object.assign(crm.lists, kept.lists);
  for (const [key, dump] of Object.entries(kept.keys))
    await redis.redis.restore(key.replace(kept.prefix, redis.keys.prefix), 0, Buffer.from(dump, 'base64'));
  const handled = new Map<string, number>();
  const feed = await open(crm, ({ type, subject, data }) => void handled.set(`${type} ${subject}`, data.sequence));
  const before = await eventsOf(feed);

  // The memo that one sweep has missed already, and nothing else.
  expect((await feed.sweep()).map(({ outcome }) => outcome)).not.toContain('incomplete');
  const found = (await eventsOf(feed)).slice(before.length).map(({ type }) => type);
  expect(found).toEqual(['crm.memo.deleted']);
  const [dead, done, waiting] = crm.lists.people.map(({ id }) => id);
  Object.assign(crm.lists.people[1]!, { 이름: 'again', '수정 날짜': new Date().toISOString() });
  await feed.sweep();
  // A record that an earlier form holds is compared with what that form kept.
  expect((await eventsOf(feed)).at(-1)?.data.before).toMatchObject({ 이름: 'handled' });
  await feed.start(['dispatch', 'handle']);
  await feed.resume('all');
  const sequenceOf = (id: string | undefined): number => handled.get(`crm.person.updated ${id}`) ?? 0;
  await eventually(() => expect(eventNumber(sequenceOf(waiting))).toBe(1));
  // Another server than before: an epoch begins, and sequences go on above everything that was given out.
  await eventually(() => expect(sequenceOf(done)).toBeGreaterThan(sequenceOf(waiting)));
  await feed.deadLetters.retry({ subscription: 'all' });
  await eventually(() => expect(eventNumber(sequenceOf(dead))).toBe(1));
  expect((await feed.status()).problems).toEqual([]);
});

async function keysIn(server: Redis, prefix: string): Promise<Record<string, string>> {
  const keys: Record<string, string> = {};
  for await (const found of server.scanStream({ match: `${prefix}*`, count: 1_000 }))
    for (const key of found as string[]) {
      const dump = await server.dumpBuffer(key);
      if ((await server.ttl(key)) < 0) keys[key] = dump.toString('base64');
    }
  return keys;
}
