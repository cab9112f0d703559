/** The size and the time of the metrics of many workspaces. */
import { expect, it } from 'vitest';
import { RECEIPT_OUTCOMES } from '../../src/delivery/receipts/receipt.js';
import { createPrometheus } from '../../src/ops/watch/prometheus.js';
import { AT, HEALTHY_REDIS, list, subscription } from '../support/statuses.js';

const LISTS = ['people', 'organization', 'memo', 'todo', 'history', 'activity'];
const budget = { requests: 80, perSeconds: 10, pausedMs: 0, allowed: 80, used: 0 };

async function metricsOf(count: number, { roles = ['poll'], names: handled = [] as string[] } = {}) {
  const prometheus = await createPrometheus();
  const names = Array.from({ length: count }, (_, n) => `customer-${n}`);
  for (const workspace of names)
    for (const one of LISTS) {
      prometheus.tried(workspace, { list: one, code: null, status: 200, ms: 70, waitMs: 3, bytes: 900 } as never);
      prometheus.swept({ workspace, list: one, outcome: 'complete', ms: 900 });
    }
  const workspaces = names.map((name, n) => ({
    ...{ name, state: 'active' as const, stateSince: AT, stateLostAt: null, stateRewound: null, logLength: 2, budget },
    lists: LISTS.map((one) => list({ list: one, records: 10, late: n === 7 })),
  }));
  const status = {
    at: AT,
    redis: HEALTHY_REDIS,
    workspaces,
    subscriptions: handled.map((name) => subscription({ name })),
    unconfigured: [],
    processes: [],
    problems: [],
  };
  const facts = { roles, version: '1', isRedisUp: true, nowMs: Date.parse(AT), queues: [] };
  return (byWorkspace: boolean) => prometheus.text({ ...facts, byWorkspace, status: status });
}

it('metrics: of 500 workspaces together they are small, and by workspace on request', async () => {
  const text = await metricsOf(500);
  const all = await text(false);
  expect(all.length).toBeLessThan(100_000);
  expect(all).not.toContain('workspace=');
  expect(all).toContain('changefeed_list_records{list="people"} 5000');
  expect(all).toContain('changefeed_list_late{list="people"} 1');
  expect(all).toContain('changefeed_log_events 1000');
  expect(all).toContain('changefeed_sweeps_total{list="people",outcome="complete"} 500');
  expect(all).toContain('changefeed_sweep_duration_seconds_count{list="people"} 500');
  const each = await text(true);
  expect(each.length).toBeGreaterThan(3_000_000);
  expect(each).toContain('changefeed_list_records{workspace="customer-7",list="people"} 10');
});

it('metrics: of 100 workspaces are by workspace', async () => {
  const text = await metricsOf(100);
  expect(await text(false)).toContain('workspace="customer-99"');
});

it('metrics: each outcome of a subscription is counted from 0, before its first delivery', async () => {
  const counted = (text: string): string[] => text.match(/^changefeed_deliveries_total.*$/gm)?.sort() ?? [];
  const [handling, polling] = [
    await metricsOf(1, { roles: ['handle'], names: ['ops'] }),
    await metricsOf(1, { roles: ['poll'], names: ['ops'] }),
  ];
  const of = (outcome: string): string => `changefeed_deliveries_total{subscription="ops",outcome="${outcome}"} 0`;
  expect(counted(await handling(false))).toEqual([...RECEIPT_OUTCOMES].map(of).sort());
  expect(counted(await polling(false))).toEqual([]);
});
