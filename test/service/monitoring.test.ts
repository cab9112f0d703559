/** What monitors read of a process: /healthz, /readyz and /metrics, over HTTP, with a real Redis. */
import { describe, expect, it, onTestFinished } from 'vitest';
import type { Changefeed } from '../../src/actions/feed.js';
import { openChangefeed } from '../../src/service/changefeed.js';
import type { Role } from '../../workers/all.js';
import { parseConfig } from '../../src/config/parse.js';
import { PermanentError } from '../../src/delivery/handlers/errors.js';
import { defineHandler } from '../../src/delivery/handlers/define.js';
import type { AppContext } from '../../workers/context.js';
import { monitored } from '../../src/service/monitoring.js';
import { observedStatus } from '../../src/service/status.js';
import { METRICS, QUEUE_METRIC } from '../../src/ops/watch/metric-table.js';
import { createPrometheus } from '../../src/ops/watch/prometheus.js';
import type { Status } from '../../src/ops/watch/status.js';
import { eventually } from '../support/eventually.js';
import { OPERATE, OPERATOR } from '../support/page-feed.js';
import { startOtherCrm, type OtherCrm } from '../support/other-crm.js';
import { startPrivateRedis, useRedis } from '../support/redis.js';
import { AT, list } from '../support/statuses.js';

const WAIT = { timeoutMs: 60_000 };
const NAMES = Object.keys(METRICS);

describe('monitoring', { timeout: 240_000 }, () => {
  const redis = useRedis();

  async function open(
    crm: OtherCrm,
    options: { redisUrl?: string; roles?: Role[]; http?: object } = {},
  ): Promise<Changefeed> {
    const lists = Object.fromEntries(
      ['people', 'organization', 'memo', 'todo', 'history', 'activity'].map((list) => [
        list,
        { enabled: list === 'people', interval: '1s' },
      ]),
    );
    const handle = ({ subject }: { subject: string }): void => {
      if (subject === crm.lists.people[1]?.id) throw new PermanentError('not this one');
    };
    const raw = {
      workspaces: [{ name: 'acme', baseUrl: crm.url, token: crm.token, lists, todos: { watch: false } }],
      redis: { prefix: redis.keys.prefix },
      http: { port: 0, ...(options.http ?? { tokens: { operate: OPERATE } }) },
      subscriptions: [defineHandler({ name: 'ops', on: ['crm.*'], handle })],
    };
    const { redisUrl = redis.url, roles } = options;
    const feed = await openChangefeed({ config: parseConfig(raw, { source: 'the test', redisUrl }), http: true });
    onTestFinished(() => feed.stop().catch(() => undefined));
    await feed.start(roles);
    return feed;
  }
  const ask = async (feed: Changefeed, path: string) => {
    const response = await fetch(`${feed.pageUrl ?? ''}${path}`, { headers: OPERATOR });
    const text = await response.text();
    return { status: response.status, type: response.headers.get('content-type'), text };
  };
  const json = async (feed: Changefeed, path: string) => {
    const { status, text } = await ask(feed, path);
    return { status, body: JSON.parse(text) as { status: string; reasons: string[]; problems?: string[] } };
  };
  const metrics = async (feed: Changefeed): Promise<Map<string, number>> => {
    const { text } = await ask(feed, '/metrics');
    const lines = text.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
    return new Map(lines.map((line) => [line.slice(0, line.lastIndexOf(' ')), Number(line.split(' ').at(-1))]));
  };
  const rename = (crm: OtherCrm, index: number): void => {
    const edited = { 이름: '비밀 이름', '수정 날짜': new Date().toISOString() };
    crm.lists.people[index] = { ...crm.lists.people[index]!, ...edited };
  };

  it('monitoring: a process that works is healthy and ready, and its metrics agree with what happened', async () => {
    const crm = await startOtherCrm();
    const feed = await open(crm);
    expect(await json(feed, '/healthz')).toEqual({ status: 200, body: { status: 'ok', reasons: [] } });
    const complete = 'changefeed_sweeps_total{workspace="acme",list="people",outcome="complete"}';
    await eventually(async () => expect((await metrics(feed)).get(complete)).toBeGreaterThan(0), WAIT);
    rename(crm, 0);
    const updated = 'changefeed_events_total{workspace="acme",type="crm.person.updated"}';
    const attempts = (outcome: string) => `changefeed_handler_attempts_total{subscription="ops",outcome="${outcome}"}`;
    await eventually(async () => expect((await metrics(feed)).get(attempts('success'))).toBe(1), WAIT);
    rename(crm, 1);
    await eventually(async () => expect((await metrics(feed)).get(attempts('failure'))).toBe(1), WAIT);

    const found = await eventually(async () => {
      const now = await metrics(feed);
      expect(now.get('changefeed_subscription_dead_letters{subscription="ops"}')).toBe(1);
      return now;
    }, WAIT);
    expect(found.get(updated)).toBe(2);
    expect(found.get('changefeed_delivery_delay_seconds_count{subscription="ops",since="change"}')).toBe(1);
    expect(found.get('changefeed_delivery_delay_seconds_sum{subscription="ops",since="detection"}')).toBeLessThan(30);
    expect(found.get('changefeed_list_records{workspace="acme",list="people"}')).toBe(17);
    expect(found.get('changefeed_list_age_seconds{workspace="acme",list="people"}')).toBeLessThan(60);
    expect(found.get('changefeed_redis_up')).toBe(1);
    expect(found.get('changefeed_handlers_running{subscription="ops"}')).toBe(0);
    expect(found.get('bullmq_jobs{queue="ops", state="failed"}')).toBe(1);
    const requests = [...found].filter(([name]) => name.startsWith('changefeed_api_requests_total'));
    expect(requests.map(([name]) => /answer="(\w+)"/.exec(name)?.[1])).toEqual(requests.map(() => 'ok'));
    const counted = requests.reduce((sum, [, value]) => sum + value, 0);
    expect(counted).toBeGreaterThan(3);
    expect(counted).toBeLessThanOrEqual(crm.asked.length);

    const { text, type } = await ask(feed, '/metrics');
    expect(type).toMatch(/^text\/plain; version=0\.0\.4/);
    const described = [...text.matchAll(/^# TYPE (\S+)/gm)].map(([, name = '']) => name);
    expect(new Set(described).size).toBe(described.length);
    // The suffixes that "promtool check metrics" leaves to counters and histograms.
    const gauges = [...text.matchAll(/^# TYPE (\S+) gauge/gm)].map(([, name = '']) => name);
    expect(gauges.filter((name) => /_(count|sum|bucket|total)$/.test(name))).toEqual([]);
    expect(NAMES.filter((name) => !described.includes(name))).toEqual([]);
    const others = described.filter((name) => !NAMES.includes(name) && name !== QUEUE_METRIC);
    expect(others.filter((name) => !/^(process|nodejs)_/.test(name))).toEqual([]);
    expect(text).not.toContain('비밀');
    expect(text).not.toContain(crm.token);
    expect(text).not.toContain(String(crm.lists.people[0]?.id));
    expect(await json(feed, '/readyz')).toMatchObject({ status: 200, body: { status: 'ready', reasons: [] } });
  });

  it('monitoring: each process exports what its roles know; the CRM that refuses is counted by its answer', async () => {
    const crm = await startOtherCrm();
    crm.fault = () => ({ status: 401, body: { success: false } });
    const [poller, handler] = [
      await open(crm, { roles: ['poll'] }),
      await open(crm, { roles: ['dispatch', 'handle'] }),
    ];
    const refused = 'changefeed_api_requests_total{workspace="acme",list="people",answer="401"}';
    await eventually(async () => expect((await metrics(poller)).get(refused)).toBeGreaterThan(0), WAIT);
    const has = async (feed: Changefeed, name: string): Promise<boolean> =>
      [...(await metrics(feed)).keys()].some((key) => key.startsWith(name));
    const shown = async (feed: Changefeed) =>
      Promise.all(
        ['changefeed_log_events', 'changefeed_subscription_lag_events', QUEUE_METRIC].map((name) => has(feed, name)),
      );
    expect(await shown(poller)).toEqual([true, false, false]);
    // The status may be one of before it began to read.
    await eventually(async () => expect(await shown(handler)).toEqual([false, true, true]), WAIT);
    expect((await metrics(poller)).get('changefeed_processes{role="handle"}')).toBe(1);
    const token = 'changefeed_problems{kind="workspace.unauthorized",severity="error"}';
    await eventually(async () => expect((await metrics(handler)).get(token)).toBe(1), WAIT);
    // A problem of the CRM: the process itself can work.
    expect(await json(handler, '/readyz')).toMatchObject({
      status: 200,
      body: { problems: ['workspace.unauthorized workspace'] },
    });
  });

  it('monitoring: without a token, problems have no names of workspaces, lists and subscriptions', async () => {
    const crm = await startOtherCrm();
    const read = 'read-token-7305918264';
    const feed = await open(crm, { roles: ['poll'], http: { tokens: { read } } });
    const url = `${feed.pageUrl ?? ''}/readyz`;
    const problems = async (headers: Record<string, string>): Promise<string[]> =>
      ((await (await fetch(url, { headers })).json()) as { problems: string[] }).problems;
    await feed.pause('ops');
    const named = await eventually(async () => {
      const shown = await problems({ authorization: `Bearer ${read}` });
      expect(shown).toContain('subscription.disabled subscription:ops');
      return shown;
    }, WAIT);
    expect(await problems({})).toEqual([...new Set(named.map((one) => one.split(' ')[0]))]);
  });

  it('monitoring: a status that is late leaves Redis up, and the last status with its age', async () => {
    let monotonicMs = 0;
    const monotonic = () => monotonicMs;
    const clock = { now: () => Date.parse(AT) + 9_000, monotonic, sleep: () => Promise.resolve() };
    const context = { clock, loops: new Map(), watch: { trouble: () => null } } as unknown as AppContext;
    const budget = { requests: 80, perSeconds: 10, pausedMs: 0, allowed: 80, used: 0 };
    const workspaces = [{ name: 'acme', budget, logLength: 0, lists: [list()] }];
    const onTime = { at: AT, problems: [], processes: [], subscriptions: [], workspaces } as unknown as Status;
    const given = [Promise.resolve(onTime), new Promise<Status>(() => undefined)];
    const one = monitored(context, {
      progress: () => ({ phase: 'running', roles: ['poll'] }) as never,
      prometheus: await createPrometheus(),
      status: observedStatus(() => given.shift() ?? new Promise(() => undefined), clock),
      queues: () => Promise.resolve([]),
    });
    expect((await one.readiness({ names: 'hidden' })).ok).toBe(true);
    monotonicMs = 29_000;
    expect((await one.readiness({ names: 'hidden' })).ok).toBe(true);
    monotonicMs = 31_000;
    const { text } = await one.metrics();
    expect(text).toMatch(/^changefeed_redis_up 1$/m);
    expect(text).toMatch(/^changefeed_status_age_seconds 9$/m);
    expect(text).toMatch(/^changefeed_list_records{workspace="acme",list="people"} \d+$/m);
    expect((await one.readiness({ names: 'hidden' })).reasons).toEqual(['the status cannot be read from Redis']);
  });

  it('monitoring: while Redis is away the process is healthy, not ready, and still exports what it counted', async () => {
    const [crm, server] = [await startOtherCrm(), await startPrivateRedis()];
    const feed = await open(crm, { redisUrl: server.url });
    const requests = 'changefeed_api_requests_total{workspace="acme",list="people",answer="ok"}';
    await eventually(async () => expect((await metrics(feed)).get(requests)).toBeGreaterThan(0), WAIT);
    await server.kill();
    await eventually(async () => {
      const { status, body } = await json(feed, '/readyz');
      expect({ status, reasons: body.reasons }).toEqual({ status: 503, reasons: ['Redis is away'] });
    }, WAIT);
    const askedAtMs = performance.now();
    const answer = await ask(feed, '/api/status');
    expect({ status: answer.status, body: JSON.parse(answer.text) as unknown }).toEqual({
      status: 503,
      body: { error: { status: 503, message: 'Redis is away. Everything goes on when it is back.' } },
    });
    expect(performance.now() - askedAtMs).toBeLessThan(5_000);
    const now = await metrics(feed);
    expect(now.get('changefeed_redis_up')).toBe(0);
    expect(now.get(requests)).toBeGreaterThan(0);
    expect([...now.keys()].filter((name) => name.startsWith('changefeed_list_'))).toEqual([]);
    expect((await json(feed, '/healthz')).status).toBe(200);
  });
});
