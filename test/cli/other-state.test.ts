import { expect, it } from 'vitest';
import { useCli } from '../support/cli.js';
import { dumpOf } from '../support/dump.js';
import { eventually } from '../support/eventually.js';
import { startOtherCrm } from '../support/other-crm.js';
import { useRedis } from '../support/redis.js';

const cli = useCli();
const redis = useRedis();

async function folderOf() {
  const crm = await startOtherCrm();
  const folder = await cli({
    'changefeed.config.json': {
      workspaces: [{ name: 'acme', baseUrl: crm.url, token: crm.token, lists: { people: { interval: '1s' } } }],
      redis: { prefix: redis.keys.prefix },
      http: { enabled: false },
      subscriptions: [{ handler: 'ndjson', name: 'stdout', on: ['crm.*'] }],
    },
  });
  const env = { REDIS_URL: redis.url };
  return {
    edit: () => (crm.lists.people[0] = { ...crm.lists.people[0]!, 이름: crypto.randomUUID() }),
    start: () => folder.start(['start'], { ...env, LOG_LEVEL: 'debug' }),
    call: (...args: string[]) => folder.call(args, env),
  };
}

async function markAs(format: number): Promise<void> {
  const key = redis.keys.state('acme');
  const state = JSON.parse((await redis.redis.get(key)) ?? '') as { format: number };
  expect(state.format).toBe(5);
  await redis.redis.set(key, JSON.stringify({ ...state, format, since: { another: 'form' } }));
}

/** Without a mark of BullMQ that expires after some seconds. */
async function stored(): Promise<[string, string][]> {
  const all = [...(await dumpOf(redis.redis, redis.keys.prefix))];
  return all.filter(([key]) => !key.endsWith(':stalled-check')).sort(([a], [b]) => (a < b ? -1 : 1));
}

const sentence = (format: number): RegExp =>
  new RegExp(
    `^changefeed: The state in Redis has format ${format} \\(key "\\S+"\\), and version \\S+ reads format 5 only: run the release that wrote it, or set another redis\\.prefix; nothing was changed\\. \\[CF_STATE_FORMAT\\]\\n$`,
  );

it.each([4, 6])('state of format %i: a process refuses it with one message and changes nothing', async (format) => {
  const folder = await folderOf();
  expect(await folder.call('sweep')).toMatchObject({ code: 0 });
  folder.edit();
  await markAs(format);
  const before = await stored();
  const service = folder.start();
  const [started, swept, status] = await Promise.all([service.exited, folder.call('sweep'), folder.call('status')]);
  expect([started.code, swept.code, status.code]).toEqual([2, 2, 2]);
  for (const { stderr } of [swept, status]) expect(stderr).toMatch(sentence(format));
  expect(service.stderr).toContain(swept.stderr.split('\n')[0]);
  expect(await stored()).toEqual(before);
});

it('state of another format: a process that runs when it is written sweeps no more', async () => {
  const folder = await folderOf();
  const service = folder.start();
  await service.waitForLine(/"list":"people".*"sweep complete"/);
  await markAs(6);
  await service.waitForLine(/CF_STATE_FORMAT/);
  const summary = await redis.redis.hgetall(redis.keys.sweep('acme', 'people'));
  folder.edit();
  const turns = (): number => service.stderr.match(/"loop":"poll acme people".*CF_STATE_FORMAT/g)?.length ?? 0;
  const before = turns();
  await eventually(() => expect(turns()).toBeGreaterThan(before + 1));
  expect(await redis.redis.hgetall(redis.keys.sweep('acme', 'people'))).toEqual(summary);
  expect(await redis.redis.xlen(redis.keys.log('acme'))).toBe(0);
  expect(await service.kill('SIGTERM')).toEqual({ code: 0, signal: null });
});
