/** Every metric: docs, dashboard and alerts follow this table. Labels are names of the configuration, never ids. */

/** The role of the process that knows the value; `every` process knows the rest. */
export type KnownBy = 'poll' | 'dispatch' | 'handle' | 'every';

export interface MetricDefinition {
  readonly type: 'counter' | 'gauge' | 'histogram';
  readonly labels: readonly string[];
  readonly by: KnownBy;
  readonly help: string;
  readonly buckets?: readonly number[];
}

/** Answers take 50 ms to 30 s (the time limit of a try). */
const ANSWER_SECONDS = [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];
const WAIT_SECONDS = [0.01, 0.1, 0.5, 1, 2.5, 5, 10, 30, 60];
const SWEEP_SECONDS = [1, 2.5, 5, 10, 30, 60, 120, 300, 900, 1_800];
const HANDLER_SECONDS = [0.005, 0.025, 0.1, 0.25, 1, 2.5, 5, 10, 30, 60];
/** From a few seconds (the usual delay) to a day (a receiver that was down overnight). */
const DELAY_SECONDS = [0.5, 1, 2, 5, 10, 20, 30, 60, 120, 300, 900, 3_600, 14_400, 86_400];

const OF_PROCESS = { type: 'gauge', by: 'every' } as const;
const POLL_COUNTER = { type: 'counter', by: 'poll' } as const;
const POLL_HISTOGRAM = { type: 'histogram', by: 'poll' } as const;
const HANDLE_HISTOGRAM = { type: 'histogram', by: 'handle' } as const;
const OF_LIST = { type: 'gauge', labels: ['workspace', 'list'], by: 'poll' } as const;
const OF_WORKSPACE = { type: 'gauge', labels: ['workspace'], by: 'poll' } as const;
const OF_SUBSCRIPTION = { type: 'gauge', labels: ['subscription'], by: 'dispatch' } as const;

export const METRICS = {
  changefeed_info: {
    ...OF_PROCESS,
    labels: ['version', 'role'],
    help: '1 for each role of this process, with its version.',
  },
  changefeed_redis_up: {
    ...OF_PROCESS,
    labels: [],
    help: '1 while Redis can be used; 0 while it is away, refuses writes or may evict keys. While it is 0, the metrics that are read from Redis are absent.',
  },
  changefeed_status_age_seconds: {
    ...OF_PROCESS,
    labels: [],
    help: 'How old the status is from which the metrics of lists, subscriptions and problems are read. Above 30: it cannot be read in time.',
  },
  changefeed_problems: {
    ...OF_PROCESS,
    labels: ['kind', 'severity'],
    help: 'Problems that last now, by kind (the table above). Every process sees the same ones: take the maximum.',
  },
  changefeed_processes: {
    ...OF_PROCESS,
    labels: ['role'],
    help: 'Living processes with this role. Every process sees the same number: take the maximum.',
  },
  changefeed_list_age_seconds: {
    ...OF_LIST,
    help: 'How old the stored state of the list may be: time since the last complete sweep read its first page. Absent before the first.',
  },
  changefeed_list_last_sweep_seconds: { ...OF_LIST, help: 'How long the last complete sweep took.' },
  changefeed_list_period_seconds: {
    ...OF_LIST,
    help: 'The usual time from the start of one sweep to the start of the next: the interval, or how long a sweep takes if that is longer.',
  },
  changefeed_list_records: { ...OF_LIST, help: 'Stored records.' },
  changefeed_list_late: {
    ...OF_LIST,
    help: '1 while the list has been due for longer than the start of a sweep may take and no process sweeps it.',
  },
  changefeed_list_failing_seconds: {
    ...OF_LIST,
    help: 'Time since the first of the failed attempts in a row; 0 when the last sweep was complete.',
  },
  changefeed_list_held_records: {
    ...OF_LIST,
    labels: ['workspace', 'list', 'what'],
    help: 'Records that wait for a decision, by `what`: removals or creations.',
  },
  changefeed_shortcut_pages: {
    ...OF_LIST,
    labels: ['workspace', 'list', 'shortcut', 'result'],
    help: 'Pages that shortcuts have read, by `result`: used (all), useful, wrong.',
  },
  changefeed_budget_limit_requests_per_second: { ...OF_WORKSPACE, help: 'The configured request budget.' },
  changefeed_budget_allowed_requests_per_second: {
    ...OF_WORKSPACE,
    help: 'What is allowed of it now: less for some minutes after a 429.',
  },
  changefeed_budget_used_ratio: {
    ...OF_WORKSPACE,
    help: 'The part of the configured budget that all processes used in the last `perSeconds`: 0 to 1.',
  },
  changefeed_budget_paused_seconds: {
    ...OF_WORKSPACE,
    help: 'Time until requests are sent again after a 429; 0 when there is no wait.',
  },
  changefeed_log_events: { ...OF_WORKSPACE, help: 'Events in the log.' },
  changefeed_api_requests_total: {
    ...POLL_COUNTER,
    labels: ['workspace', 'list', 'answer'],
    help: 'Requests to the CRM, by `answer`: ok, the HTTP status, malformed, or none.',
  },
  changefeed_api_request_duration_seconds: {
    ...POLL_HISTOGRAM,
    labels: ['workspace', 'list'],
    help: 'Time from sending a request to the end of its answer.',
    buckets: ANSWER_SECONDS,
  },
  changefeed_api_wait_seconds: {
    ...POLL_HISTOGRAM,
    labels: ['workspace'],
    help: 'Time that a request waited for the budget.',
    buckets: WAIT_SECONDS,
  },
  changefeed_api_received_bytes_total: {
    ...POLL_COUNTER,
    labels: ['workspace', 'list'],
    help: 'Bytes of pages that were read, unpacked.',
  },
  changefeed_sweeps_total: {
    ...POLL_COUNTER,
    labels: ['workspace', 'list', 'outcome'],
    help: 'Sweeps of this process, by `outcome`: complete or incomplete.',
  },
  changefeed_sweep_duration_seconds: {
    ...POLL_HISTOGRAM,
    labels: ['workspace', 'list'],
    help: 'How long complete sweeps took.',
    buckets: SWEEP_SECONDS,
  },
  changefeed_events_total: {
    ...POLL_COUNTER,
    labels: ['workspace', 'type'],
    help: 'Events that sweeps and shortcuts of this process wrote to the log, by type.',
  },
  changefeed_edits_total: {
    ...POLL_COUNTER,
    labels: ['workspace', 'type', 'actor'],
    help: 'Edits that sweeps and shortcuts of this process wrote to the log, by whether it is known who made them (`actor`: known or unknown).',
  },
  changefeed_subscription_lag_events: {
    ...OF_SUBSCRIPTION,
    help: 'Events that are not handled yet (of those not read from the log at most 1,000 per workspace are counted).',
  },
  changefeed_subscription_lag_seconds: {
    ...OF_SUBSCRIPTION,
    help: 'Age of the oldest event that is not handled yet; 0 without lag.',
  },
  changefeed_subscription_dead_letters: {
    ...OF_SUBSCRIPTION,
    help: 'Events that could not be handled and wait for a person.',
  },
  changefeed_subscription_disabled: { ...OF_SUBSCRIPTION, help: '1 while nothing is delivered to the subscription.' },
  changefeed_subscription_failing_seconds: {
    ...OF_SUBSCRIPTION,
    help: 'Time since the first failure after the last success; 0 when there is none.',
  },
  changefeed_handler_attempts_total: {
    type: 'counter',
    by: 'handle',
    labels: ['subscription', 'outcome'],
    help: 'Calls of the handler, by `outcome`: success, failure, timeout.',
  },
  changefeed_handler_duration_seconds: {
    ...HANDLE_HISTOGRAM,
    labels: ['subscription'],
    help: 'How long calls of the handler took.',
    buckets: HANDLER_SECONDS,
  },
  changefeed_handlers_running: {
    type: 'gauge',
    by: 'handle',
    labels: ['subscription'],
    help: 'Calls of the handler that are under way.',
  },
  changefeed_deliveries_total: {
    type: 'counter',
    by: 'handle',
    labels: ['subscription', 'outcome'],
    help: 'Ended attempts of deliveries, by `outcome` of their receipts: delivered, retry, dead, skipped (left without its handler being called).',
  },
  changefeed_delivery_delay_seconds: {
    ...HANDLE_HISTOGRAM,
    labels: ['subscription', 'since'],
    help: "From a change to the end of its successful handling. `since` is change (the record's own time, where it has one) or detection. Replays and snapshots are left out.",
    buckets: DELAY_SECONDS,
  },
} as const satisfies Record<`changefeed_${string}`, MetricDefinition>;

export type MetricName = keyof typeof METRICS;

/** What BullMQ exports of each queue (`Queue.exportPrometheusMetrics`), by processes with the role `dispatch`. */
export const QUEUE_METRIC = 'bullmq_jobs';
