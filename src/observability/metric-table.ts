/**
 * Every metric that a process exports, in one table: the Prometheus registry is made of it, docs/operations.md prints it, and a test
 * holds the dashboard and the alerts in ops/ to it. Labels have few values: names of the configuration, never ids of records.
 */

/** The role of the process that knows the value; `every` process knows the rest. */
export type KnownBy = 'poll' | 'dispatch' | 'handle' | 'every';

export interface MetricDefinition {
  readonly name: `changefeed_${string}`;
  readonly type: 'counter' | 'gauge' | 'histogram';
  readonly labels: readonly string[];
  readonly by: KnownBy;
  readonly help: string;
  /** Upper bounds of a histogram's buckets. */
  readonly buckets?: readonly number[];
}

/** Answers take 50 ms to 30 s (the time limit of a try). */
const ANSWER_SECONDS = [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];
const WAIT_SECONDS = [0.01, 0.1, 0.5, 1, 2.5, 5, 10, 30, 60];
const SWEEP_SECONDS = [1, 2.5, 5, 10, 30, 60, 120, 300, 900, 1_800];
const HANDLER_SECONDS = [0.005, 0.025, 0.1, 0.25, 1, 2.5, 5, 10, 30, 60];
/** From a few seconds (the usual delay) to a day (a receiver that was down overnight). */
const DELAY_SECONDS = [0.5, 1, 2, 5, 10, 20, 30, 60, 120, 300, 900, 3_600, 14_400, 86_400];

/** What is read from the status. */
const OF_LIST = { type: 'gauge', labels: ['workspace', 'list'], by: 'poll' } as const;
const OF_WORKSPACE = { type: 'gauge', labels: ['workspace'], by: 'poll' } as const;
const OF_SUBSCRIPTION = { type: 'gauge', labels: ['subscription'], by: 'dispatch' } as const;

export const METRICS = {
  info: {
    name: 'changefeed_info',
    type: 'gauge',
    labels: ['version', 'role'],
    by: 'every',
    help: '1 for each role of this process, with its version.',
  },
  redisUp: {
    name: 'changefeed_redis_up',
    type: 'gauge',
    labels: [],
    by: 'every',
    help: '1 while Redis can be used; 0 while it is away, refuses writes or may evict keys. While it is 0, the metrics that are read from Redis are absent.',
  },
  problems: {
    name: 'changefeed_problems',
    type: 'gauge',
    labels: ['kind', 'severity'],
    by: 'every',
    help: 'Problems that last now, by kind (the table above). Every process sees the same ones: take the maximum.',
  },
  processes: {
    name: 'changefeed_processes',
    type: 'gauge',
    labels: ['role'],
    by: 'every',
    help: 'Living processes with this role. Every process sees the same number: take the maximum.',
  },
  listAge: {
    ...OF_LIST,
    name: 'changefeed_list_age_seconds',
    help: 'How old the stored state of the list may be: time since the last complete sweep read its first page. Absent before the first.',
  },
  listSweepSeconds: {
    ...OF_LIST,
    name: 'changefeed_list_last_sweep_seconds',
    help: 'How long the last complete sweep took.',
  },
  listPeriod: {
    ...OF_LIST,
    name: 'changefeed_list_period_seconds',
    help: 'The usual time from the start of one sweep to the start of the next: the interval, or how long a sweep takes if that is longer.',
  },
  listRecords: {
    ...OF_LIST,
    name: 'changefeed_list_records',
    help: 'Stored records.',
  },
  listLate: {
    ...OF_LIST,
    name: 'changefeed_list_late',
    help: '1 while the list has been due for longer than the start of a sweep may take and no process sweeps it.',
  },
  listFailing: {
    ...OF_LIST,
    name: 'changefeed_list_failing_seconds',
    help: 'Time since the first of the failed attempts in a row; 0 when the last sweep was complete.',
  },
  listHeld: {
    name: 'changefeed_list_held_records',
    type: 'gauge',
    labels: ['workspace', 'list', 'what'],
    by: 'poll',
    help: 'Records that wait for a decision, by `what`: removals or creations.',
  },
  shortcutPages: {
    name: 'changefeed_shortcut_pages',
    type: 'gauge',
    labels: ['workspace', 'list', 'shortcut', 'result'],
    by: 'poll',
    help: 'Pages that shortcuts have read, by `result`: used (all), useful, wrong.',
  },
  budgetLimit: {
    ...OF_WORKSPACE,
    name: 'changefeed_budget_limit_requests_per_second',
    help: 'The configured request budget.',
  },
  budgetAllowed: {
    ...OF_WORKSPACE,
    name: 'changefeed_budget_allowed_requests_per_second',
    help: 'What is allowed of it now: less for some minutes after a 429.',
  },
  budgetUsed: {
    ...OF_WORKSPACE,
    name: 'changefeed_budget_used_ratio',
    help: 'The part of the configured budget that all processes used in the last minute: 0 to 1.',
  },
  budgetPaused: {
    ...OF_WORKSPACE,
    name: 'changefeed_budget_paused_seconds',
    help: 'Time until requests are sent again after a 429; 0 when there is no wait.',
  },
  logEvents: {
    ...OF_WORKSPACE,
    name: 'changefeed_log_events',
    help: 'Events in the log.',
  },
  apiRequests: {
    name: 'changefeed_api_requests_total',
    type: 'counter',
    labels: ['workspace', 'list', 'kind', 'answer'],
    by: 'poll',
    help: 'Requests to the CRM, by `kind` (walk, tail, aimed, probe) and `answer`: ok, the HTTP status, malformed, or none.',
  },
  apiSeconds: {
    name: 'changefeed_api_request_duration_seconds',
    type: 'histogram',
    labels: ['workspace', 'list'],
    by: 'poll',
    help: 'Time from sending a request to the end of its answer.',
    buckets: ANSWER_SECONDS,
  },
  apiWait: {
    name: 'changefeed_api_wait_seconds',
    type: 'histogram',
    labels: ['workspace'],
    by: 'poll',
    help: 'Time that a request waited for the budget.',
    buckets: WAIT_SECONDS,
  },
  apiBytes: {
    name: 'changefeed_api_received_bytes_total',
    type: 'counter',
    labels: ['workspace', 'list'],
    by: 'poll',
    help: 'Bytes of pages that were read, unpacked.',
  },
  sweeps: {
    name: 'changefeed_sweeps_total',
    type: 'counter',
    labels: ['workspace', 'list', 'outcome'],
    by: 'poll',
    help: 'Sweeps of this process, by `outcome`: complete or incomplete.',
  },
  sweepSeconds: {
    name: 'changefeed_sweep_duration_seconds',
    type: 'histogram',
    labels: ['workspace', 'list'],
    by: 'poll',
    help: 'How long complete sweeps took.',
    buckets: SWEEP_SECONDS,
  },
  events: {
    name: 'changefeed_events_total',
    type: 'counter',
    labels: ['workspace', 'type'],
    by: 'poll',
    help: 'Events that sweeps and shortcuts of this process wrote to the log, by type.',
  },
  lagEvents: {
    ...OF_SUBSCRIPTION,
    name: 'changefeed_subscription_lag_events',
    help: 'Events that are not handled yet (of those not read from the log at most 1,000 per workspace are counted).',
  },
  lagSeconds: {
    ...OF_SUBSCRIPTION,
    name: 'changefeed_subscription_lag_seconds',
    help: 'Age of the oldest event that is not handled yet; 0 without lag.',
  },
  deadLetters: {
    ...OF_SUBSCRIPTION,
    name: 'changefeed_subscription_dead_letters',
    help: 'Events that could not be handled and wait for a person.',
  },
  disabled: {
    ...OF_SUBSCRIPTION,
    name: 'changefeed_subscription_disabled',
    help: '1 while nothing is delivered to the subscription.',
  },
  failing: {
    ...OF_SUBSCRIPTION,
    name: 'changefeed_subscription_failing_seconds',
    help: 'Time since the first failure after the last success; 0 when there is none.',
  },
  attempts: {
    name: 'changefeed_handler_attempts_total',
    type: 'counter',
    labels: ['subscription', 'outcome'],
    by: 'handle',
    help: 'Calls of the handler, by `outcome`: success, failure, timeout. A batch is one call.',
  },
  handlerSeconds: {
    name: 'changefeed_handler_duration_seconds',
    type: 'histogram',
    labels: ['subscription'],
    by: 'handle',
    help: 'How long calls of the handler took.',
    buckets: HANDLER_SECONDS,
  },
  running: {
    name: 'changefeed_handlers_running',
    type: 'gauge',
    labels: ['subscription'],
    by: 'handle',
    help: 'Calls of the handler that are under way.',
  },
  delay: {
    name: 'changefeed_delivery_delay_seconds',
    type: 'histogram',
    labels: ['subscription', 'since'],
    by: 'handle',
    help: "From a change to the end of its successful handling. `since` is change (the record's own time, where it has one) or detection. Replays and snapshots are left out.",
    buckets: DELAY_SECONDS,
  },
} as const satisfies Record<string, MetricDefinition>;

export type MetricName = keyof typeof METRICS;

/** What BullMQ exports of each queue (`Queue.exportPrometheusMetrics`), by processes with the role `dispatch`. */
export const QUEUE_METRIC = 'bullmq_job_count';
