/**
 * Random lives of persons, each of whom is erased at a random moment, with the rows that name them, while the feed runs and the CRM goes on to
 * show and to change them. Then nobody can read their names, e-mail addresses and phone numbers: not in Redis, its files, tables or logs.
 */
import { randomUUID } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { describe, expect, it, onTestFinished } from 'vitest';
import { dice } from '../../sandbox/world/random.js';
import { defineHandler } from '../../src/delivery/handlers/define.js';
import { PermanentError } from '../../src/delivery/handlers/errors.js';
import type { Handle } from '../../src/delivery/handlers/handler.js';
import type { Log } from '../../src/kit/log.js';
import { Keys } from '../../src/redis/keys.js';
import type { Changefeed } from '../../src/actions/feed.js';
import { eventually } from '../support/eventually.js';
import { baselined, openFeed } from '../support/feed.js';
import { useMirrors } from '../support/mirror.js';
import { isGate } from '../support/night.js';
import { startOtherCrm, type OtherCrm, type OtherRecord } from '../support/other-crm.js';
import { startPrivateRedis } from '../support/redis.js';
import { storedTexts } from '../support/stored-texts.js';

const LIVES = isGate ? 5 : 200;
const ROUNDS = isGate ? 4 : 6;
/** Erased at the same time. */
const AT_ONCE = 4;
const mirrors = await useMirrors();

type ListName = keyof OtherCrm['lists'];

interface Life {
  id: string;
  /** All names, addresses and numbers that the person has ever had. */
  words: Set<string>;
  /** Rows that name the person. */
  rows: { list: ListName; id: string }[];
  /** The round in which the person is erased; never: shows that the search finds who is not erased. */
  erasedIn: number;
}

const LISTS = ['people', 'memo', 'todo', 'activity'] as const;

function world(crm: OtherCrm, seed: number) {
  const { below, chance } = bound(dice(seed));
  const word = (): string => randomUUID().slice(0, 13);
  const fields = {
    이름: () => `사람${word()}`,
    이메일: () => `${word()}@crm.example`,
    전화: () => `+82 10-${1_000 + below(9_000)}-${10_000 + below(90_000)}`,
  };
  type Field = keyof typeof fields;
  const give = (life: Life, names = Object.keys(fields) as Field[]): object => {
    const given = names.map((name) => [name, fields[name]()] as const);
    for (const [, value] of given) life.words.add(value);
    return Object.fromEntries(given);
  };
  const lives = Array.from({ length: LIVES + 1 }, (_, index): Life => {
    const erasedIn = index === LIVES ? ROUNDS + 1 : 1 + below(ROUNDS);
    const life = { id: randomUUID(), words: new Set<string>(), rows: [], erasedIn };
    crm.lists.people.push({ id: life.id, ...give(life) });
    return life;
  });
  const rowOf = (life: Life): void => {
    const list = (['memo', 'todo', 'activity'] as const)[below(3)]!;
    const id = randomUUID();
    const says = [...life.words][below(life.words.size)]!;
    const row = {
      peopleId: life.id,
      내용: `${says} 님과 통화`,
      완료: false,
      '마지막 날짜': '2099-01-01T00:00:00.000Z',
    };
    crm.lists[list].push({ id, ...(list === 'memo' ? { peopleId: null, text: says } : row) });
    life.rows.push({ list, id });
  };
  const edit = (list: ListName, id: string, fields: object): void => {
    const at = crm.lists[list].findIndex((one) => one.id === id);
    if (at >= 0) crm.lists[list][at] = { ...crm.lists[list][at]!, ...fields };
  };
  return {
    lives,
    edit,
    /** One thing happens to each. Rows that name an erased person would be about somebody who was not erased. */
    live(round: number): void {
      for (const life of lives) {
        if (life.erasedIn <= ROUNDS && chance(0.05)) remove(crm.lists.people, life.id);
        // What the CRM never shows, nothing can look for.
        const isThere = crm.lists.people.some(({ id }) => id === life.id);
        if (isThere && chance(0.6)) edit('people', life.id, give(life, [Object.keys(fields)[below(3)] as Field]));
        if (life.erasedIn >= round && chance(0.4)) rowOf(life);
        for (const { list, id } of life.rows) if (chance(0.2)) edit(list, id, { 유형: word() });
      }
    },
  };
}

function bound(of: ReturnType<typeof dice>) {
  return { below: (limit: number) => of.below(limit), chance: (probability: number) => of.chance(probability) };
}

function remove(list: OtherRecord[], id: string): void {
  const at = list.findIndex((one) => one.id === id);
  if (at >= 0) list.splice(at, 1);
}

/** Keeps of a record whatever a subscription can keep. */
function subscriptions(handled: string[]) {
  const quoting = (Failure: new (message: string) => Error): Handle => {
    return ({ data }) => {
      throw new Failure(`not ${JSON.stringify(data.after ?? data.before)}`);
    };
  };
  const later = { retry: { delay: '1h', maxDelay: '1h', attempts: 9 } } as const;
  const on = ['crm.*'] as const;
  const handlers = [
    { name: 'ok', handle: (({ id, subject }) => void handled.push(`${subject} ${id}`)) as Handle },
    { name: 'dead', handle: quoting(PermanentError) },
    { name: 'held', whenDead: 'hold', handle: quoting(PermanentError) },
    { name: 'later', ...later, handle: quoting(Error) },
    { name: 'unordered', order: 'none', ...later, handle: quoting(Error) },
    { name: 'settling', settle: '1h', handle: () => undefined },
    { name: 'merged', settle: '10ms', ...later, handle: quoting(Error) },
    { name: 'snapshot', start: 'snapshot', ...later, handle: quoting(Error) },
    { name: 'paused', handle: () => undefined },
  ] as const;
  const mirror = mirrors.absent === null ? [mirrors.mirror({ on })] : [];
  return [...handlers.map((one) => defineHandler({ on, ...one })), ...mirror];
}

describe('erase: random lives', () => {
  it('erase: nobody can read of an erased person, wherever a word of it was kept', { timeout: 3_600_000 }, async () => {
    const server = await startPrivateRedis({ settings: ['appendonly yes', 'appendfsync always', 'rdbcompression no'] });
    const redis = new Redis(server.url);
    onTestFinished(() => redis.disconnect());
    const keys = new Keys('erase');
    const crm = await startOtherCrm();
    const life = world(crm, 7);
    const { lives } = life;
    const lines: string[] = [];
    const log = logInto(lines);
    const handled: string[] = [];
    const all = subscriptions(handled);
    const lists = Object.fromEntries(
      LISTS.map((list) => [list, { interval: '1s', removals: { after: '0s', maxShare: 1 } }]),
    );
    const budget = { requests: 10_000, perSeconds: 1 };
    const raw = {
      workspaces: [{ name: 'acme', baseUrl: crm.url, token: crm.token, budget, lists }],
      subscriptions: all,
    };
    const running = await openFeed({ url: server.url, keys }, raw, { log });
    const other = await openFeed({ url: server.url, keys }, raw, { log });
    await running.start(['poll', 'dispatch', 'handle']);
    await baselined(running);
    await running.pause('paused');

    const found: string[] = [];
    for (let round = 1; round <= ROUNDS; round += 1) {
      life.live(round);
      await sweep(running);
      const texts = [...(await storedTexts(redis, keys.prefix)).values()].join('\n');
      const erased = lives.filter(({ erasedIn }) => erasedIn === round);
      for (const { words } of erased) if ([...words].some((word) => texts.includes(word))) found.push('before');
      const erase = async ({ id, rows }: Life): Promise<void> => {
        const { related, kept } = await other.erase({ workspace: 'acme', list: 'people', id });
        expect(kept?.running).toBe(0);
        expect(related).toEqual(expect.arrayContaining(rows.map((row) => expect.objectContaining(row) as unknown)));
        for (const row of related) await other.erase({ workspace: 'acme', list: row.list, id: row.id });
      };
      for (let at = 0; at < erased.length; at += AT_ONCE) await Promise.all(erased.slice(at, at + AT_ONCE).map(erase));
    }
    // A control: each was there.
    expect(found).toHaveLength(LIVES);
    life.live(ROUNDS + 1);
    await sweep(running);
    await sweep(running);
    // What is not erased is delivered further: the log goes on behind what was erased of it.
    const [{ id: keptId }] = lives.slice(LIVES) as [Life];
    const before = handled.length;
    life.edit('people', keptId, { 유형: 'still here' });
    await sweep(running);
    await eventually(() => expect(handled.slice(before).join('\n')).toContain(keptId));
    await running.stop();
    await rewritten(redis);
    await other.stop();

    const [kept, erased] = [lives.slice(LIVES), lives.slice(0, LIVES)];
    const inRedis = [...(await storedTexts(redis, keys.prefix)).values()].join('\n');
    const inFiles = filesIn(server.dir)
      .map((file) => readFileSync(file, 'utf8'))
      .join('\n');
    const inTables = mirrors.absent === null ? JSON.stringify(await rowsOf()) : '';
    const says = (text: string, { words, id }: Life): string[] => [...words, id].filter((word) => text.includes(word));
    for (const text of [inRedis, inFiles, inTables, lines.join('\n')])
      expect(erased.flatMap((life) => says(text, life).map((word) => around(text, word)))).toEqual([]);
    // Controls: the search finds who was not erased.
    for (const life of kept) expect(says(inRedis, life)).not.toEqual([]);
    expect(inFiles).toContain(keptId);
    expect(mirrors.absent !== null || inTables.includes(keptId)).toBe(true);
  });
});

const around = (text: string, word: string): string =>
  text.slice(Math.max(0, text.indexOf(word) - 200), text.indexOf(word) + 100);

async function sweep(feed: Changefeed): Promise<void> {
  await eventually(async () => {
    const swept = await feed.sweep({ lists: LISTS });
    expect(swept.filter(({ outcome }) => outcome !== 'complete')).toEqual([]);
  });
}

async function rowsOf(): Promise<unknown[]> {
  const { rows } = await mirrors.admin.query<{ name: string }>(
    'SELECT table_name AS name FROM information_schema.tables WHERE table_schema = $1',
    [mirrors.schemaName()],
  );
  return await Promise.all(rows.map(({ name }) => mirrors.rows('*', name)));
}

async function rewritten(redis: Redis): Promise<void> {
  const isBusy = async (): Promise<boolean> =>
    /aof_rewrite_(in_progress|scheduled):1/u.test(await redis.info('persistence'));
  await eventually(async () => expect(await isBusy()).toBe(false));
  await redis.bgrewriteaof();
  await eventually(async () => expect(await isBusy()).toBe(false));
}

function filesIn(dir: string): string[] {
  return readdirSync(dir, { recursive: true, withFileTypes: true })
    .filter((file) => file.isFile())
    .map((file) => join(file.parentPath, file.name));
}

/** What is logged above debug. */
function logInto(lines: string[]): Log {
  const write = (facts: object, message: string): void => void lines.push(`${message} ${JSON.stringify(facts)}`);
  const log: Log = { debug: () => undefined, info: write, warn: write, error: write, child: () => log };
  return log;
}
