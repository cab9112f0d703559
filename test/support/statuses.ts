/** Parts of a status in which all is well, to be changed where a test needs a problem. */
import { problemsOf } from '../../src/ops/watch/problems.js';
import type { ListStatus, Status, SubscriptionStatus } from '../../src/ops/watch/status.js';

export const AT = '2026-03-01T09:10:00.000Z';
export const EARLIER = '2026-03-01T09:00:00.000Z';

export const list = (more: Partial<ListStatus> = {}): ListStatus => ({
  list: 'people',
  enabled: true,
  intervalMs: 3_000,
  freshness: null,
  failure: null,
  lastError: null,
  dueAt: AT,
  late: false,
  baselineAt: EARLIER,
  lastSweep: null,
  silence: null,
  shortcuts: null,
  restless: [],
  unmatched: [],
  actors: null,
  unreadable: [],
  held: [],
  discarded: 0,
  sweeping: null,
  records: 1,
  ...more,
});
export const onePage = (longestPage: number, pages = 1): NonNullable<ListStatus['lastSweep']> => ({
  ...{ completedAt: EARLIER, tookMs: 100, pages, longestPage, counts: {}, muted: {} },
});
export const failure = {
  code: 'CF_UNAVAILABLE',
  message: 'It answered 503.',
  page: 1,
  since: EARLIER,
  at: AT,
  attempts: 2,
  retryAt: AT,
};
export const subscription = (more: Partial<SubscriptionStatus> = {}): SubscriptionStatus => ({
  name: 'ops',
  title: null,
  to: null,
  handler: 'webhook',
  on: ['crm.*'],
  consumer: null,
  waiting: 0,
  active: 0,
  delayed: 0,
  dead: 0,
  paused: null,
  verified: null,
  replays: [],
  incomplete: [],
  failingSince: null,
  failures: 0,
  lastError: null,
  digest: false,
  lateAfterSeconds: 300,
  lateSince: null,
  lagEvents: 0,
  lagSeconds: 0,
  unreadable: null,
  ...more,
});
export const process = (roles: readonly string[], more: object = {}): Status['processes'][number] => ({
  id: roles.join('-'),
  version: '1.0.0',
  pid: 7,
  host: 'crm-1',
  startedAt: EARLIER,
  roles,
  workspaces: ['acme'],
  stalled: [],
  failing: [],
  ...more,
});
export const HEALTHY_REDIS = {
  evictionPolicy: 'noeviction',
  mayEvict: false,
  refuses: null,
  forbids: null,
  clockApartMs: 0,
};
export const ALL = process(['poll', 'dispatch', 'handle']);

export function problemsWith(more: {
  lists?: ListStatus[];
  subscriptions?: SubscriptionStatus[];
  processes?: Status['processes'];
  redis?: Status['redis'];
  unconfigured?: Status['unconfigured'];
  /** Each with the same lists. */
  names?: readonly string[];
}): Status['problems'] {
  const {
    lists = [list()],
    subscriptions = [subscription()],
    processes = [ALL],
    redis = HEALTHY_REDIS,
    unconfigured = [],
    names = ['acme'],
  } = more;
  const budget = { requests: 80, perSeconds: 10, pausedMs: 0, allowed: 80, used: 0 };
  const workspaces = names.map((name) => ({
    name,
    state: 'active' as const,
    stateSince: EARLIER,
    stateLostAt: null,
    stateRewound: null,
    logLength: 0,
    budget,
    lists,
  }));
  return problemsOf({ at: AT, redis, workspaces, subscriptions, unconfigured, processes });
}
