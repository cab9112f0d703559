/** The metrics in Prometheus' text format. Gauges are read from the status when they are asked for. */
import type * as PromClient from 'prom-client';
import type { Counter, Gauge, Histogram, Registry } from 'prom-client';
import type { ObservedTry } from '../../feed/api/one-try.js';
import type { ListName } from '../../crm/lists/lists.js';
import type { ChangeEvent } from '../../events/types.js';
import { METRICS, QUEUE_METRIC, type MetricDefinition, type MetricName } from './metric-table.js';
import { RECEIPT_OUTCOMES } from '../../delivery/receipts/receipt.js';
import type { ListStatus, Status, SubscriptionStatus, WorkspaceStatus } from './status.js';

/** Reports of the parts of a process for its metrics, in the words of the domain. */
export interface Measure {
  /** A request to the CRM has its answer, or has failed. */
  tried(workspace: string, tried: ObservedTry): void;
  /** @param swept.ms how long it took; null when it is incomplete */
  swept(swept: { workspace: string; list: ListName; outcome: 'complete' | 'incomplete'; ms: number | null }): void;
  logged(workspace: string, events: readonly ChangeEvent[]): void;
  /** A handler was called. Returns what to call with its outcome; only the first call counts. */
  handling(subscription: string): (ended: HandlerEnded) => void;
  /** A delivery has its receipt. */
  delivered(subscription: string, outcome: string, workspace: string): void;
}

export interface HandlerEnded {
  outcome: 'success' | 'failure' | 'timeout';
  ms: number;
  /** Ms since the change, and since its detection. Null: the event was not handled, or is sent again. */
  delay: { changeMs: number; detectionMs: number } | null;
}

export const unmeasured: Measure = {
  tried: () => undefined,
  swept: () => undefined,
  logged: () => undefined,
  handling: () => () => undefined,
  delivered: () => undefined,
};

export interface Exposed {
  roles: readonly string[];
  version: string;
  isRedisUp: boolean;
  /** The last one that could be read; null while Redis cannot be used. */
  status: Status | null;
  nowMs: number;
  /** Also where there are many workspaces. */
  byWorkspace: boolean;
  /** BullMQ's export of each queue. */
  queues: readonly string[];
}

export interface Prometheus extends Measure {
  readonly contentType: string;
  text(exposed: Exposed): Promise<string>;
}

type Labels = Readonly<Record<string, string>>;
type NamesOf<Type extends MetricDefinition['type']> = {
  [Name in MetricName]: (typeof METRICS)[Name]['type'] extends Type ? Name : never;
}[MetricName];

/** prom-client is loaded here: a command that serves no metrics must not wait for it. */
export async function createPrometheus(): Promise<Prometheus> {
  const client = await import('prom-client');
  const defaults = withDefaults(client);
  const [byWorkspace, whole] = [instruments(client), instruments(client)];
  const both = [
    { of: byWorkspace, labelled: (labels: Labels): Labels => ({ ...labels }) },
    { of: whole, labelled: ({ workspace: _, ...others }: Labels): Labels => others },
  ];
  const count = (name: NamesOf<'counter'>, labels: Labels, by = 1): void => {
    for (const { of, labelled } of both) of.counters.get(name)?.inc(labelled(labels), by);
  };
  const observe = (name: NamesOf<'histogram'>, labels: Labels, ms: number): void => {
    for (const { of, labelled } of both) of.histograms.get(name)?.observe(labelled(labels), ms / 1_000);
  };
  const running = both.map(({ of }) => of.gauges.get(RUNNING));
  return {
    contentType: defaults.contentType,
    tried(workspace, { list, code, status, ms, waitMs, bytes }) {
      const answer = code === null ? 'ok' : code === 'CF_PAGE_MALFORMED' ? 'malformed' : String(status ?? 'none');
      count('changefeed_api_requests_total', { workspace, list, answer });
      observe('changefeed_api_request_duration_seconds', { workspace, list }, ms);
      observe('changefeed_api_wait_seconds', { workspace }, waitMs);
      count('changefeed_api_received_bytes_total', { workspace, list }, bytes);
    },
    swept({ ms, ...labels }) {
      count('changefeed_sweeps_total', labels);
      const { workspace, list } = labels;
      if (ms !== null) observe('changefeed_sweep_duration_seconds', { workspace, list }, ms);
    },
    logged(workspace, events) {
      for (const { type, data } of events) {
        count('changefeed_events_total', { workspace, type });
        if (data.class !== 'edited' || !type.endsWith('.updated')) continue;
        count('changefeed_edits_total', { workspace, type, actor: data.actor === undefined ? 'unknown' : 'known' });
      }
    },
    handling(subscription) {
      let isOver = false;
      for (const gauge of running) gauge?.inc({ subscription });
      return ({ outcome, ms, delay }) => {
        if (isOver) return;
        isOver = true;
        for (const gauge of running) gauge?.dec({ subscription });
        count('changefeed_handler_attempts_total', { subscription, outcome });
        observe('changefeed_handler_duration_seconds', { subscription }, ms);
        if (delay === null) return;
        observe('changefeed_delivery_delay_seconds', { subscription, since: 'change' }, delay.changeMs);
        observe('changefeed_delivery_delay_seconds', { subscription, since: 'detection' }, delay.detectionMs);
      };
    },
    delivered: (subscription, outcome) => count('changefeed_deliveries_total', { subscription, outcome }),
    async text(exposed) {
      for (const labels of countedFromZero(exposed)) count('changefeed_deliveries_total', labels, 0);
      // Gone from the status, gone from the metrics: a removed list, a problem that is over.
      const { gauges, registry } = isJoined(exposed) ? whole : byWorkspace;
      for (const [name, gauge] of gauges) if (name !== RUNNING) gauge.reset();
      expose(exposed, registry === whole.registry ? joined(gauges) : separate(gauges));
      return [await defaults.metrics(), await registry.metrics(), ...queueLines(exposed.queues)].join('\n');
    },
  };
}

/** With more of them, an answer by workspace has megabytes, and takes longer than Prometheus waits. */
const MOST_WORKSPACES = 100;

/** Of all workspaces together: these are the sum, and the others the worst. */
const SUMMED: ReadonlySet<string> = new Set([
  'changefeed_list_records',
  'changefeed_list_held_records',
  'changefeed_shortcut_pages',
  'changefeed_budget_limit_requests_per_second',
  'changefeed_budget_allowed_requests_per_second',
  'changefeed_log_events',
] satisfies NamesOf<'gauge'>[]);

function isJoined({ byWorkspace, status }: Exposed): boolean {
  return !byWorkspace && (status?.workspaces.length ?? 0) > MOST_WORKSPACES;
}

function separate(gauges: ReadonlyMap<string, Gauge>): SetGauge {
  return (name, labels, value) => gauges.get(name)?.set({ ...labels }, value);
}

function joined(gauges: ReadonlyMap<string, Gauge>): SetGauge {
  const all = new Map<string, number>();
  return (name, { workspace, ...labels }, value) => {
    const key = `${name} ${JSON.stringify(labels)}`;
    const before = all.get(key);
    const now =
      before === undefined || workspace === undefined
        ? value
        : SUMMED.has(name)
          ? before + value
          : Math.max(before, value);
    all.set(key, now);
    gauges.get(name)?.set(labels, now);
  };
}

function instruments(client: typeof PromClient) {
  const registry = new client.Registry();
  const counters = new Map<string, Counter>();
  const gauges = new Map<string, Gauge>();
  const histograms = new Map<string, Histogram>();
  for (const [name, { type, labels, help, buckets = [] }] of Object.entries<MetricDefinition>(METRICS)) {
    const common = { name, help, labelNames: [...labels], registers: [registry] };
    if (type === 'counter') counters.set(name, new client.Counter(common));
    else if (type === 'gauge') gauges.set(name, new client.Gauge(common));
    else histograms.set(name, new client.Histogram({ ...common, buckets: [...buckets] }));
  }
  return { registry, counters, gauges, histograms };
}

/** A counter that begins with its first failure has no rate for it. */
function countedFromZero({ roles, status }: Exposed): Labels[] {
  if (!roles.includes('handle') || status === null) return [];
  return status.subscriptions.flatMap(({ name }) =>
    RECEIPT_OUTCOMES.map((outcome) => ({ subscription: name, outcome })),
  );
}

function withDefaults(client: typeof PromClient): Registry {
  const registry = new client.Registry();
  client.collectDefaultMetrics({ register: registry });
  // Gauges with the name of a counter, which also exist by type.
  for (const what of ['handles', 'requests', 'resources']) registry.removeSingleMetric(`nodejs_active_${what}_total`);
  return registry;
}

type SetGauge = (name: NamesOf<'gauge'>, labels: Labels, value: number) => void;

/** The only gauge that is kept by what it counts; the others are set for each answer. */
const RUNNING = 'changefeed_handlers_running' satisfies MetricName;

function expose({ roles, version, status, isRedisUp, nowMs: askedMs }: Exposed, set: SetGauge): void {
  for (const role of roles) set('changefeed_info', { version, role }, 1);
  set('changefeed_redis_up', {}, isRedisUp ? 1 : 0);
  if (status === null) return;
  set('changefeed_status_age_seconds', {}, secondsSince(status.at, askedMs));
  const { problems, processes, workspaces, subscriptions } = status;
  const nowMs = Date.parse(status.at);
  for (const { kind, severity } of problems) {
    set(
      'changefeed_problems',
      { kind, severity },
      problems.filter((one) => one.kind === kind && one.severity === severity).length,
    );
  }
  for (const role of ['poll', 'dispatch', 'handle', 'serve']) {
    set('changefeed_processes', { role }, processes.filter((one) => one.roles.includes(role)).length);
  }
  if (roles.includes('poll')) for (const workspace of workspaces) exposeWorkspace(workspace, nowMs, set);
  if (roles.includes('dispatch')) for (const one of subscriptions) exposeSubscription(one, nowMs, set);
}

function exposeWorkspace(
  { name: workspace, budget, logLength, lists }: WorkspaceStatus,
  nowMs: number,
  set: SetGauge,
): void {
  const { requests, allowed, perSeconds, pausedMs, used } = budget;
  set('changefeed_budget_limit_requests_per_second', { workspace }, requests / perSeconds);
  set('changefeed_budget_allowed_requests_per_second', { workspace }, allowed / perSeconds);
  set('changefeed_budget_used_ratio', { workspace }, used);
  set('changefeed_budget_paused_seconds', { workspace }, pausedMs / 1_000);
  set('changefeed_log_events', { workspace }, logLength);
  for (const list of lists) if (list.enabled) exposeList(workspace, list, nowMs, set);
}

function exposeList(workspace: string, one: ListStatus, nowMs: number, set: SetGauge): void {
  const { list, freshness, records, late, failure, held, shortcuts } = one;
  const labels = { workspace, list };
  if (freshness !== null) {
    set('changefeed_list_age_seconds', labels, freshness.ageMs / 1_000);
    set('changefeed_list_last_sweep_seconds', labels, freshness.sweepMs / 1_000);
    set('changefeed_list_period_seconds', labels, Math.max(freshness.sweepMs, one.intervalMs ?? 0) / 1_000);
  }
  set('changefeed_list_records', labels, records);
  set('changefeed_list_late', labels, late ? 1 : 0);
  set('changefeed_list_failing_seconds', labels, failure === null ? 0 : secondsSince(failure.since, nowMs));
  for (const what of ['removals', 'creations'] as const)
    set('changefeed_list_held_records', { ...labels, what }, held.find((one) => one.what === what)?.count ?? 0);
  for (const [shortcut, { used, useful, wrong }] of Object.entries(shortcuts ?? {})) {
    for (const [result, pages] of Object.entries({ used, useful, wrong }))
      set('changefeed_shortcut_pages', { ...labels, shortcut, result }, pages);
  }
}

function exposeSubscription(one: SubscriptionStatus, nowMs: number, set: SetGauge): void {
  // Its zeros are no counts: no value is better than a wrong one.
  if (one.unreadable !== null) return;
  const labels = { subscription: one.name };
  if (one.lagEvents !== null) set('changefeed_subscription_lag_events', labels, one.lagEvents);
  if (one.lagSeconds !== null) set('changefeed_subscription_lag_seconds', labels, one.lagSeconds);
  set('changefeed_subscription_dead_letters', labels, one.dead);
  set('changefeed_subscription_disabled', labels, one.paused === null ? 0 : 1);
  set(
    'changefeed_subscription_failing_seconds',
    labels,
    one.failingSince === null ? 0 : secondsSince(one.failingSince, nowMs),
  );
}

function secondsSince(time: string, nowMs: number): number {
  return Math.max(0, (nowMs - Date.parse(time)) / 1_000);
}

/** Its name is that of a part of a histogram, and this is a gauge. */
const BULLMQ_NAME = 'bullmq_job_count';

/** BullMQ's other two metrics stay 0 unless its workers collect them: only the job counts are taken. */
function queueLines(exports: readonly string[]): string[] {
  const lines = exports.flatMap((text) => text.split('\n')).filter((line) => line.includes(BULLMQ_NAME));
  const headers = [...new Set(lines.filter((line) => line.startsWith('#')))];
  const all = [...headers, ...lines.filter((line) => !line.startsWith('#')), ''];
  return lines.length === 0 ? [] : all.map((line) => line.replace(BULLMQ_NAME, QUEUE_METRIC));
}
