/** Each of many events fails: the log has a line per second and cause. */
import { Writable } from 'node:stream';
import { expect, it } from 'vitest';
import { defineHandler } from '../../src/delivery/handlers/define.js';
import { PermanentError } from '../../src/delivery/handlers/errors.js';
import { createLog } from '../../src/ops/log.js';
import { eventually } from '../support/eventually.js';
import { openFeed } from '../support/feed.js';
import { startOtherCrm } from '../support/other-crm.js';
import { useRedis } from '../support/redis.js';

const redis = useRedis();
const MANY = 300;

it('logs: hundreds of dead letters and of failed attempts are a line per second and subscription', async () => {
  const lines: string[] = [];
  const write = (line: Buffer, _encoding: string, done: () => void): void => {
    lines.push(line.toString());
    done();
  };
  const crm = await startOtherCrm();
  const [first] = crm.lists.people;
  crm.lists.people.push(...Array.from({ length: MANY }, (_, index) => ({ ...first!, id: `many-${index}` })));
  const dies = defineHandler({
    name: 'dies',
    concurrency: 50,
    handle: () => {
      throw new PermanentError('no');
    },
  });
  const workspaces = [{ name: 'acme', baseUrl: crm.url, token: crm.token, lists: { people: { baseline: 'emit' } } }];
  const log = createLog({ destination: new Writable({ write }) });
  const feed = await openFeed(redis, { workspaces, subscriptions: [dies] }, { log });
  await feed.start();
  await eventually(async () => expect((await feed.status()).subscriptions[0]!.dead).toBeGreaterThanOrEqual(MANY));

  const loud = lines
    .map((line) => JSON.parse(line) as { level: string; time: string; msg: string; problem?: string; list?: string })
    .filter(({ level }) => level === 'warn' || level === 'error');
  const last = new Map<string, number>();
  for (const { msg, problem, list, time } of loud) {
    const cause = `${msg} ${problem ?? ''} ${list ?? ''}`;
    const atMs = Date.parse(time);
    expect(atMs - (last.get(cause) ?? 0)).toBeGreaterThanOrEqual(999);
    last.set(cause, atMs);
  }
  expect([...last.keys()].join('\n')).toContain('event became a dead letter');
});
