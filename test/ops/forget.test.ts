import { describe, expect, it, onTestFinished } from 'vitest';
import type { Changefeed } from '../../src/actions/feed.js';
import { openChangefeed } from '../../src/service/changefeed.js';
import { parseConfig } from '../../src/config/parse.js';
import { forgetWorkspace, isWorkspaceStored } from '../../src/ops/forgetting/forget.js';
import { LIST_NAMES } from '../../src/crm/lists/lists.js';
import type { ChangeEvent } from '../../src/events/types.js';
import { defineHandler } from '../../src/delivery/handlers/define.js';
import { PermanentError } from '../../src/delivery/handlers/errors.js';
import type { HandlerContext } from '../../src/delivery/handlers/handler.js';
import { systemClock } from '../../src/kit/clock.js';
import { silentLog } from '../../src/kit/log.js';
import { createSandbox, type Sandbox } from '../../sandbox/sandbox.js';
import { createTraceStore, type TraceStore } from '../../src/ops/forgetting/traces.js';
import { useCli } from '../support/cli.js';
import { dumpOf, keysWith } from '../support/dump.js';
import { eventually } from '../support/eventually.js';
import { useRedis } from '../support/redis.js';

interface Living {
  sandbox: Sandbox;
  workspace: object;
}

describe('forget: a workspace', () => {
  const redis = useRedis();
  const cli = useCli();

  async function living(name: string, seed: number): Promise<Living> {
    const sandbox = createSandbox({ people: 30, history: 20, activity: 20, limit: null, seed });
    const { url, token } = await sandbox.start();
    onTestFinished(() => sandbox.stop());
    const lists = Object.fromEntries(LIST_NAMES.map((list) => [list, { interval: '1s' }]));
    const budget = { requests: 10_000, perSeconds: 1 };
    return { sandbox, workspace: { name, baseUrl: url, token, budget, lists } };
  }

  type Handle = (event: ChangeEvent, context: HandlerContext) => void | Promise<void>;

  async function open(workspaces: readonly object[], handle: Handle): Promise<Changefeed> {
    const subscriptions = [
      defineHandler({ name: 'books', start: 'beginning', handle }),
      defineHandler({ name: 'held', start: 'beginning', whenDead: 'hold', handle }),
    ];
    const raw = { workspaces, subscriptions, redis: { prefix: redis.keys.prefix } };
    const feed = await openChangefeed({ config: parseConfig(raw, { source: 'the test', redisUrl: redis.url }) });
    onTestFinished(() => feed.stop().catch(() => undefined));
    return feed;
  }

  async function withStoredState() {
    const [acme, beta] = [await living('acme', 1), await living('beta', 2)];
    const seen: string[] = [];
    const handle: Handle = async (event, { workspace, subscription, once }) => {
      await once('effect', () => undefined);
      if (workspace.name === 'acme' && (subscription === 'held' || event.type.startsWith('crm.todo'))) {
        throw new PermanentError(`${event.subject} is refused`);
      }
      if (workspace.name === 'beta') seen.push(`${subscription} ${event.id}`);
    };
    const feed = await open([acme.workspace, beta.workspace], handle);
    await feed.sweep();
    await feed.start(['dispatch', 'handle']);
    for (let round = 0; round < 4; round += 1) {
      acme.sandbox.step(40);
      beta.sandbox.step(40);
      await feed.sweep();
    }
    await eventually(async () => {
      const lag = (await feed.status()).subscriptions.find(({ name }) => name === 'books')!.lagEvents;
      expect([lag, (await feed.deadLetters.count()) > 10]).toEqual([0, true]);
    });
    await feed.stop();
    return { acme, beta, handle, seen };
  }

  const wordsOf = ({ sandbox }: Living): string[] => [
    'acme',
    sandbox.token === 'sandbox' ? '\u0000' : sandbox.token,
    ...sandbox.journal.lines().flatMap((line) => ('id' in line && typeof line.id === 'string' ? [line.id] : [])),
  ];
  /** Without the feed's own notices: on a slow machine there is one about the failing handlers. */
  const logOf = async (workspace: string): Promise<string[]> => {
    const entries = await redis.redis.xrange(redis.keys.log(workspace), '-', '+');
    const events = entries.map(([, [, json = '']]) => JSON.parse(json) as ChangeEvent);
    return events.filter(({ type }) => type.startsWith('crm.')).map(({ id }) => id);
  };

  it(
    'leaves nothing in Redis, and another workspace in the same queues continues without loss or repetition',
    { timeout: 240_000 },
    async () => {
      const { acme, beta, handle, seen } = await withStoredState();
      await redis.redis.hset(redis.keys.pulled('books'), 'in acme', '0 1-0 1-0 1');
      const words = wordsOf(acme);
      expect(words.length).toBeGreaterThan(100);
      const before = keysWith(await dumpOf(redis.redis, redis.keys.prefix), words);
      for (const part of ['{acme}:log', ':once:acme:', '{held}:group:', '{books}:books:evt_'])
        expect(before.filter((key) => key.includes(part))).not.toEqual([]);

      const service = await open([beta.workspace], handle);
      await service.start(['poll', 'dispatch', 'handle']);
      beta.sandbox.rate = 2;
      const forgetful = await open([beta.workspace], handle);
      const forgotten = await forgetful.forget('acme');
      expect(forgotten).toMatchObject({
        workspace: 'acme',
        events: expect.toSatisfy((count: number) => count > 50) as number,
        records: expect.toSatisfy((count: number) => count > 100) as number,
        deliveries: { dead: expect.toSatisfy((count: number) => count > 10) as number },
      });
      expect(keysWith(await dumpOf(redis.redis, redis.keys.prefix), words)).toEqual([]);

      const then = seen.length;
      await eventually(() => expect(seen.length).toBeGreaterThan(then + 20));
      beta.sandbox.rate = 0;
      // A sweep under way may still log an event of the last changes.
      await eventually(async () => {
        const logged = await logOf('beta');
        for (const name of ['books', 'held'])
          expect(seen.filter((one) => one.startsWith(name)).sort()).toEqual(logged.map((id) => `${name} ${id}`).sort());
      });
      await service.stop();
      expect(new Set(seen).size).toBe(seen.length);
      expect(keysWith(await dumpOf(redis.redis, redis.keys.prefix), words)).toEqual([]);

      const again = await forgetful.forget('acme');
      const nothing = { records: 0, events: 0, deliveries: { waiting: 0, handled: 0, dead: 0 }, keys: 0 };
      expect(again).toEqual({ workspace: 'acme', ...nothing });
    },
  );

  it('is removed completely when the command is repeated after a crash at any step', async () => {
    const { acme } = await withStoredState();
    const words = wordsOf(acme);
    const traces = createTraceStore(redis.redis, redis.keys);
    const deps = {
      connect: () => redis.connect({ maxRetriesPerRequest: null }),
      keys: redis.keys,
      logger: silentLog,
      clock: systemClock,
      pollers: () => Promise.resolve(0),
    };
    const steps = ['remove', 'subscriptions', 'ofWorkspaceIn', 'remove'] as const;
    for (const step of steps) {
      const dying: TraceStore = {
        ...traces,
        [step]: async (...args: never[]) => {
          await (traces[step] as (...given: never[]) => Promise<unknown>)(...args);
          throw new Error('killed');
        },
      };
      await expect(forgetWorkspace('acme', { ...deps, traces: dying })).rejects.toThrow('killed');
    }
    expect(keysWith(await dumpOf(redis.redis, redis.keys.prefix), words)).not.toEqual([]);
    expect(await isWorkspaceStored('acme', { ...deps, traces })).toBe(true);
    await forgetWorkspace('acme', { ...deps, traces });
    expect(await isWorkspaceStored('acme', { ...deps, traces })).toBe(false);
    expect(keysWith(await dumpOf(redis.redis, redis.keys.prefix), words)).toEqual([]);
  });

  it('is not touched while a process sweeps it, on schedule or at this moment', async () => {
    const acme = await living('acme', 1);
    const feed = await open([acme.workspace], () => undefined);
    await feed.start(['poll']);
    await eventually(async () => expect(await redis.redis.exists(redis.keys.sweep('acme', 'todo'))).toBe(1));
    await expect(feed.forget('acme')).rejects.toMatchObject({
      code: 'CF_WORKSPACE_BUSY',
      message: expect.stringContaining('1 process sweeps it on schedule') as string,
    });
    await feed.stop();
    const other = await open([acme.workspace], () => undefined);
    await redis.redis.set(redis.keys.lease('acme', 'memo'), '7', 'PX', 60_000);
    await expect(other.forget('acme')).rejects.toMatchObject({
      message: expect.stringContaining('its list memo is being swept') as string,
    });
    expect(await redis.redis.exists(redis.keys.sweep('acme', 'todo'))).toBe(1);
    await redis.redis.del(redis.keys.lease('acme', 'memo'));
    await other.forget('acme');
    expect(keysWith(await dumpOf(redis.redis, redis.keys.prefix), ['acme'])).toEqual([]);
    await expect(other.forget('a*')).rejects.toMatchObject({ code: 'CF_USAGE' });
  });

  it('is removed after a running handler of one of its events has ended', async () => {
    const acme = await living('acme', 1);
    let release: () => void = () => undefined;
    const released = new Promise<void>((resolve) => (release = resolve));
    let working = 0;
    const feed = await open([acme.workspace], async () => {
      working += 1;
      await released;
    });
    await feed.sweep();
    acme.sandbox.step(5);
    await feed.sweep();
    await feed.start(['dispatch', 'handle']);
    await eventually(() => expect(working).toBeGreaterThan(0));
    const forgetful = await open([acme.workspace], () => undefined);
    const forgetting = forgetful.forget('acme');
    await eventually(async () => expect(await redis.redis.exists(redis.keys.log('acme'))).toBe(0));
    release();
    await forgetting;
    await feed.stop();
    expect(keysWith(await dumpOf(redis.redis, redis.keys.prefix), ['acme'])).toEqual([]);
  });

  it('is removed by a command that asks first, and does nothing without a terminal to ask on', async () => {
    await redis.redis.hset(redis.keys.records('gone-co', 'todo'), 'a', '1x 1 {}');
    const folder = await cli({
      'changefeed.config.json': {
        workspaces: [{ name: 'acme', baseUrl: 'http://127.0.0.1:1', token: 'tok-5f0c1e9bd2a7' }],
        redis: { prefix: redis.keys.prefix },
      },
    });
    const env = { REDIS_URL: redis.url };
    const unknown = 'Nothing is stored of a workspace "never-there".\n';
    expect(await folder.call(['forget', 'never-there'], env)).toMatchObject({ code: 0, stdout: unknown, stderr: '' });
    const refused = await folder.call(['forget', 'gone-co'], env);
    expect(refused).toMatchObject({
      code: 2,
      stdout: '',
      stderr: expect.stringContaining('confirm it with --yes') as string,
    });
    expect(await redis.redis.exists(redis.keys.records('gone-co', 'todo'))).toBe(1);

    const done = await folder.call(['forget', 'gone-co', '--yes'], env);
    expect(done).toMatchObject({ code: 0, stderr: expect.stringContaining('"what":"forget"') as string });
    expect(done.stdout).toMatch(/^Workspace "gone-co" is deleted: 1 record, 0 events in the log, .* 1 key\./);
    // Who did it is kept.
    expect(keysWith(await dumpOf(redis.redis, redis.keys.prefix), ['gone-co'])).toEqual([redis.keys.audit()]);
    expect((await folder.call(['forget', 'gone-co', '--yes'], env)).stdout).toBe(
      'Nothing is stored of a workspace "gone-co".\n',
    );
  });
});
