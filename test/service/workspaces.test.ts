import { randomBytes } from 'node:crypto';
import { describe, expect, it, onTestFinished } from 'vitest';
import { defineHandler, openChangefeed, parseConfig, type Changefeed } from '../../src/index.js';
import { startSandbox } from '../../src/testing/index.js';
import { eventually } from '../support/eventually.js';
import { useRedis, type TestRedis } from '../support/redis.js';

const KEY = randomBytes(32).toString('base64');

/** Of `names`, each with its own customers. */
async function crms(...names: string[]) {
  const all = await Promise.all(names.map(() => startSandbox({ people: 5 })));
  onTestFinished(async () => {
    await Promise.all(all.map((one) => one.stop()));
  });
  return all as [(typeof all)[number], ...typeof all];
}

async function open(test: TestRedis, options: { key?: string; workspaces?: object[]; roles?: boolean } = {}) {
  const { key = KEY, workspaces = [], roles = true } = options;
  const got: { workspace: string; subject: string }[] = [];
  const handler = defineHandler({
    name: 'mine',
    on: ['crm.person.created'],
    handle: ({ subject, source }) => void got.push({ workspace: source.split('/').at(-1)!, subject }),
  });
  const redis = { url: test.url, prefix: test.keys.prefix };
  const config = parseConfig({ workspaces, ...(key !== '' && { key }), redis, subscriptions: [handler] });
  const feed = await openChangefeed({ config });
  onTestFinished(() => feed.stop());
  if (roles) await feed.start();
  return { feed, got };
}

const isThere = async (feed: Changefeed, name: string): Promise<boolean> =>
  (await feed.status()).workspaces.some((one) => one.name === name);

async function baseline(feed: Changefeed, name: string): Promise<void> {
  await eventually(async () => {
    const found = (await feed.status()).workspaces.find((one) => one.name === name);
    expect(found?.lists.find(({ list }) => list === 'people')?.baselineAt).toBeTypeOf('string');
  });
}

async function keysNaming(test: TestRedis, word: string): Promise<string[]> {
  const keys = await test.redis.keys(`${test.keys.prefix}*`);
  const naming: string[] = keys.filter((key) => key.includes(word));
  for (const key of keys.filter((one) => !naming.includes(one))) {
    const dump = await test.redis.dump(key).catch(() => null);
    if (dump?.includes(word)) naming.push(key);
  }
  return naming;
}

describe('workspaces at run time', () => {
  const test = useRedis();

  it('workspaces: one that comes is polled within seconds in every process, its token rotated, and nothing is left when it is gone', async () => {
    const [crm] = await crms('acme');
    const [one, other] = [await open(test), await open(test)];
    expect(await one.feed.workspaces.put('acme', crm.workspace)).toMatchObject({ did: 'created', state: 'active' });
    await eventually(async () => expect(await isThere(other.feed, 'acme')).toBe(true), { timeoutMs: 2_000 });
    await baseline(one.feed, 'acme');
    const id = crm.sandbox.life.createPerson();
    await eventually(() => expect([...one.got, ...other.got]).toEqual([{ workspace: 'acme', subject: id }]));

    expect(JSON.stringify(await one.feed.workspaces.list())).not.toContain(crm.workspace.token);
    expect(await keysNaming(test, crm.workspace.token)).toEqual([]);
    await one.feed.invites.add({ name: 'customer', workspace: 'acme' });
    await one.feed.invites.add({ name: 'colleague' });
    expect(await one.feed.workspaces.remove('acme', { now: true })).toMatchObject({ name: 'acme' });
    expect(await one.feed.workspaces.list()).toEqual([]);
    expect((await one.feed.invites.list()).map(({ name }) => name)).toEqual(['colleague']);
    await eventually(async () => expect(await isThere(other.feed, 'acme')).toBe(false), { timeoutMs: 2_000 });
    // What was counted in the processes is not added when they stop.
    await Promise.all([one.feed.stop(), other.feed.stop()]);
    expect(await keysNaming(test, 'acme')).toEqual([]);
  });

  it('workspaces: a removed one is not polled, delivers what is under way, and goes on where it was when it is put back', async () => {
    const [crm] = await crms('acme');
    const { feed, got } = await open(test);
    await feed.workspaces.put('acme', crm.workspace);
    await baseline(feed, 'acme');
    await feed.pause('mine');
    const first = crm.sandbox.life.createPerson();
    await eventually(async () => expect((await feed.status()).workspaces[0]?.logLength).toBeGreaterThan(0));
    const removed = await feed.workspaces.remove('acme');
    expect(removed).toMatchObject({ state: 'removed', keys: null });
    await expect(feed.workspaces.resume('acme')).rejects.toThrow('is removed: put it again');
    await expect(feed.workspaces.pause('acme')).rejects.toThrow('is removed: put it again');
    expect((await feed.workspaces.remove('acme')).eraseAt).toBe(removed.eraseAt);
    await feed.resume('mine');
    await eventually(() => expect(got.map(({ subject }) => subject)).toEqual([first]));
    const second = crm.sandbox.life.createPerson();
    await expect(feed.sweep()).resolves.toEqual([]);
    expect(await feed.workspaces.put('acme', crm.workspace)).toMatchObject({ did: 'put back' });
    await eventually(() => expect(got.map(({ subject }) => subject)).toEqual([first, second]));
  });

  it('workspaces: a token that is rotated is sent from then on, and a paused one asks for nothing', async () => {
    const [crm] = await crms('acme');
    const { feed } = await open(test);
    await feed.workspaces.put('acme', { ...crm.workspace, token: 'one-that-was-revoked' });
    await eventually(async () => {
      const { problems } = await feed.status();
      expect(problems.map(({ kind }) => kind)).toContain('workspace.unauthorized');
    });
    await feed.workspaces.rotate('acme', crm.workspace.token);
    await baseline(feed, 'acme');
    await feed.workspaces.pause('acme');
    const asked = (): number => crm.sandbox.requests;
    const before = asked();
    await expect(feed.sweep({ workspace: 'acme' })).rejects.toThrow('sweep: the workspace "acme" is paused.');
    expect(asked()).toBe(before);
    expect(await feed.workspaces.resume('acme')).toMatchObject({ state: 'active' });
    await eventually(() => expect(asked()).toBeGreaterThan(before));
  });

  it.each([
    ['a name with a pattern', '*', {}, 'name: allowed: letters, digits'],
    ['the name of the revision', ':revision', {}, 'name: allowed'],
    ['a name of the configuration', 'filed', {}, '"filed" is in the configuration'],
    ['a new one without a token', 'acme', { token: undefined }, '"acme" is new: give its token'],
    ['an address with a password', 'acme', { baseUrl: 'https://a:b@crm.example/api' }, 'baseUrl: found'],
    ['an unknown option', 'acme', { tokn: 'x' }, 'tokn'],
    ['too much data', 'acme', { data: { text: 'x'.repeat(4_100) } }, 'at most 4 kB'],
    ['another word for a list', 'acme', { lists: { contact: { path: 'contact', object: 'person' } } }, 'person'],
  ])('workspaces: refuses %s, and writes nothing', async (_what, name, more, why) => {
    const filed = { name: 'filed', baseUrl: 'http://127.0.0.1:9/api', token: 'secret-of-file' };
    const { feed } = await open(test, { workspaces: [filed], roles: false });
    const given = { baseUrl: 'http://127.0.0.1:9/api', token: 'hidden-token', ...more } as { baseUrl: string };
    const refused: unknown = await feed.workspaces.put(name, given).catch((error: unknown) => error);
    expect(String(refused)).toContain(why);
    expect(String(refused)).not.toContain('hidden-token');
    expect((await feed.workspaces.list()).map((one) => one.name)).toEqual(['filed']);
  });

  it('workspaces: without a key nothing is stored, and the error says what to set', async () => {
    const filed = { name: 'filed', baseUrl: 'http://127.0.0.1:9/api', token: 'secret-of-file' };
    const { feed } = await open(test, { key: '', workspaces: [filed], roles: false });
    await expect(feed.workspaces.put('acme', { baseUrl: filed.baseUrl, token: 'x' })).rejects.toThrow('CHANGEFEED_KEY');
    expect(await test.redis.exists(test.keys.workspaces())).toBe(0);
  });

  it('workspaces: what is sealed opens for its workspace and address only', async () => {
    const [crm, thief] = await crms('acme', 'thief');
    const { feed } = await open(test);
    await feed.workspaces.put('acme', { ...crm.workspace, data: { plan: 'gold' } });
    await expect(feed.workspaces.put('acme', { baseUrl: thief!.workspace.baseUrl })).rejects.toThrow(
      'give its token again',
    );
    const stored = JSON.parse((await test.redis.hget(test.keys.workspaces(), 'acme'))!) as { options: object };
    expect(JSON.stringify(stored)).not.toContain('gold');
    const acme = JSON.stringify({ ...stored, options: { baseUrl: thief!.workspace.baseUrl } });
    await test.redis.hset(test.keys.workspaces(), { moved: JSON.stringify(stored), acme, ':revision': 'x' });
    await eventually(async () => {
      const problems = (await feed.workspaces.list()).map(({ name, problem }) => [name, problem]);
      expect(problems).toEqual(
        ['acme', 'moved'].map((name) => [name, expect.stringContaining('belongs to another') as string]),
      );
    });
    await eventually(async () => {
      const said = (await feed.status()).problems.find(({ kind }) => kind === 'configuration.refused');
      expect(said?.message).toContain('cannot be opened');
    });
    expect(thief!.sandbox.requests).toBe(0);
    // What ran goes on.
    const asked = crm.sandbox.requests;
    await eventually(() => expect(crm.sandbox.requests).toBeGreaterThan(asked));
  });

  it('workspaces: a key is replaced while a process has both', async () => {
    const [crm] = await crms('acme');
    const newer = randomBytes(32).toString('hex');
    const first = await open(test, { roles: false });
    await first.feed.workspaces.put('acme', crm.workspace);
    const problemWith = async (key: string): Promise<string | null> => {
      const { feed } = await open(test, { key, roles: false });
      return (await feed.workspaces.list())[0]!.problem;
    };
    expect(await problemWith(newer)).toContain('stored with another key');
    const locked = await open(test, { key: newer, roles: false });
    await expect(locked.feed.workspaces.rotate('acme', 'other')).rejects.toMatchObject({ code: 'CF_TOKEN_SEALED' });
    expect(await problemWith(`${newer},${KEY}`)).toBeNull();
    expect(await problemWith(newer)).toBeNull();
    expect(await problemWith(KEY)).toContain('stored with another key');
  });

  it('workspaces: a book that is gone from Redis stops nothing, and is a problem', async () => {
    const [crm] = await crms('acme');
    const { feed } = await open(test);
    await feed.workspaces.put('acme', crm.workspace);
    await baseline(feed, 'acme');
    await test.redis.del(test.keys.workspaces());
    const problems = async (): Promise<string> => JSON.stringify((await feed.status()).problems);
    await eventually(async () => expect(await problems()).toContain('The book of workspaces is gone from Redis'));
    const asked = crm.sandbox.requests;
    await eventually(() => expect(crm.sandbox.requests).toBeGreaterThan(asked));
    await feed.workspaces.put('acme', crm.workspace);
    await eventually(async () => expect(await problems()).not.toContain('configuration.refused'));
  });

  it('workspaces: a removed one is erased when its time is over', async () => {
    const [crm] = await crms('acme');
    const { feed } = await open(test);
    await feed.workspaces.put('acme', crm.workspace);
    await baseline(feed, 'acme');
    await feed.workspaces.remove('acme');
    const entry = JSON.parse((await test.redis.hget(test.keys.workspaces(), 'acme'))!) as object;
    const over = JSON.stringify({ ...entry, eraseAt: '2026-01-01T00:00:00.000Z' });
    await test.redis.hset(test.keys.workspaces(), { acme: over, ':revision': 'over' });
    await eventually(async () => expect(await keysNaming(test, 'acme')).toEqual([]));
  });

  it('workspaces: what is put with one reaches conditions and handlers, also when it changes', async () => {
    const [crm, other] = await crms('acme', 'beta');
    const got: unknown[] = [];
    const gold = defineHandler({
      name: 'gold',
      on: ['crm.person.created'],
      where: { 'workspace.data.plan': 'gold' },
      handle: ({ subject }, { workspace }) => void got.push([workspace.name, workspace.data['crmId'], subject]),
    });
    const redis = { url: test.url, prefix: test.keys.prefix };
    const feed = await openChangefeed({ workspaces: [], key: KEY, redis, subscriptions: [gold] });
    onTestFinished(() => feed.stop());
    await feed.start();
    await feed.workspaces.put('acme', { ...crm.workspace, data: { plan: 'gold', crmId: 7 } });
    await feed.workspaces.put('beta', { ...other!.workspace, data: { plan: 'free', crmId: 8 } });
    await Promise.all(['acme', 'beta'].map((name) => baseline(feed, name)));
    other!.sandbox.life.createPerson();
    const first = crm.sandbox.life.createPerson();
    await eventually(() => expect(got).toEqual([['acme', 7, first]]));
    await eventually(async () => {
      const beta = (await feed.status()).workspaces.find(({ name }) => name === 'beta');
      expect(beta?.logLength).toBeGreaterThan(0);
    });
    await feed.waitUntilHandled({ timeoutMs: 5_000 });
    await feed.workspaces.put('beta', { baseUrl: other!.workspace.baseUrl, data: { plan: 'gold', crmId: 9 } });
    const second = other!.sandbox.life.createPerson();
    await eventually(() => expect(got.at(-1)).toEqual(['beta', 9, second]));
    expect(got).toHaveLength(2);
  });
});
