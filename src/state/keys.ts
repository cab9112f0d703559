/**
 * Every Redis key, on one page. `{…}` is the cluster hash tag: all keys of a workspace live in one slot, so that one
 * script may touch them together; the same holds for all keys of a subscription.
 */
import type { ListName } from '../events/lists.js';

/** Everything Changefeed keeps stands under this; the `redis.prefix` option changes it. */
export const DEFAULT_PREFIX = 'changefeed';

export class Keys {
  constructor(readonly prefix: string = DEFAULT_PREFIX) {}

  /** Never written: a write of nothing to it shows whether Redis takes writes. */
  probe = (): string => `${this.prefix}:probe`;

  // Of a workspace.
  /** string with TTL: how far ahead of the clock the budget is spent. */
  budget = (workspace: string): string => this.#workspace(workspace, 'budget');
  /** string with TTL: a pause after a 429. */
  budgetPause = (workspace: string): string => this.#workspace(workspace, 'budget:pause');
  /** stream: the log of events, the outbox of every subscription. */
  log = (workspace: string): string => this.#workspace(workspace, 'log');
  /** hash subscription → log id: how far each has read. */
  places = (workspace: string): string => this.#workspace(workspace, 'places');
  /** hash subscription → ms: since when nobody who dispatches has known it. */
  strays = (workspace: string): string => this.#workspace(workspace, 'strays');
  /** counter: fencing tokens. */
  fence = (workspace: string): string => this.#workspace(workspace, 'fence');
  /** hash record key → digest of the record's text. */
  digests = (workspace: string, list: ListName): string => this.#workspace(workspace, `digests:${list}`);
  /** hash record key → packed record state (a version byte first). */
  records = (workspace: string, list: ListName): string => this.#workspace(workspace, `records:${list}`);
  /** string with TTL: the fencing token of whoever sweeps the list. */
  lease = (workspace: string, list: ListName): string => this.#workspace(workspace, `lease:${list}`);
  /** hash: baselineAt, lastSweep, the checkpoint of the sweep under way and its last step; that records are kept (`kept`), that the baseline is `quiet`; counters of the schema (`schema …`, `schemaEvents …`); `failure`: why the last attempts failed. */
  sweep = (workspace: string, list: ListName): string => this.#workspace(workspace, `sweep:${list}`);
  /** hash of the sweep under way: cursors followed (`c …`), members of changed pages (`p <page>`), records that wait (`h …`). */
  walk = (workspace: string, list: ListName): string => this.#workspace(workspace, `walk:${list}`);
  /** hash of the last complete sweep: members of each page (`p <page>`), records missing since (`m …`). */
  members = (workspace: string, list: ListName): string => this.#workspace(workspace, `members:${list}`);
  /** sorted set, by ms: kind and key of every todo to be spoken of when that time has come. */
  due = (workspace: string): string => this.#workspace(workspace, 'due');
  /** string with TTL: the derive function has appended what it made of the event. */
  derived = (workspace: string, derive: string, eventId: string): string =>
    this.#workspace(workspace, `derived:${derive}:${eventId}`);
  /** string: identity of this state, since when, and when an earlier one was lost (JSON). */
  state = (workspace: string): string => this.#workspace(workspace, 'state');
  /** hash: problems reported by an event and not over (`open …`), and how many were reported about each subject (`count …`). */
  notices = (workspace: string): string => this.#workspace(workspace, 'notices');
  /** A pattern of all of these. A workspace's name holds nothing that a pattern would take for more than itself. */
  everythingOf = (workspace: string): string => this.#workspace(workspace, '*');

  // Of all processes.
  /** set: ids of the processes that run roles. */
  processes = (): string => `${this.prefix}:processes`;
  /** string with TTL: what a process does, and which of its loops stand still (JSON). */
  process = (id: string): string => `${this.prefix}:process:${id}`;

  // Of a subscription.
  /** The prefix BullMQ gets for a subscription's queue. */
  subscriptionQueuePrefix = (subscription: string): string => `${this.prefix}:sub:{${subscription}}`;
  /** sorted set, by name: record, place and id of every event whose record's order is kept; the first of a record runs. */
  lanes = (subscription: string): string => this.#subscription(subscription, 'lanes');
  /** sorted set, by name: workspace and place of every event entered and neither handled nor dead. */
  pending = (subscription: string): string => this.#subscription(subscription, 'pending');
  /** hash workspace → the furthest place entered: what stands before it and is not pending is done. */
  entered = (subscription: string): string => this.#subscription(subscription, 'entered');
  /** hash record → who runs the head of its lane. */
  holders = (subscription: string): string => this.#subscription(subscription, 'holders');
  /** BullMQ's own: hash of a job, and the lock of whoever runs it. */
  job = (subscription: string, jobId: string): string => this.#subscription(subscription, `${subscription}:${jobId}`);
  jobLock = (subscription: string, jobId: string): string => `${this.job(subscription, jobId)}:lock`;

  /** hash event id → the place a dead letter got when it was tried again. */
  revived = (subscription: string): string => this.#subscription(subscription, 'revived');

  /** hash name → what is still to be sent beside the log: snapshots and replays, and how far each is. */
  feeds = (subscription: string): string => this.#subscription(subscription, 'feeds');
  /** string with TTL: the number of the furthest event of a feed that was entered into the lanes. */
  feedMark = (subscription: string, feed: string): string => this.#subscription(subscription, `feed:${feed}:mark`);
  /** list: the events of a snapshot that are being sent. */
  staged = (subscription: string, workspace: string): string => this.#subscription(subscription, `staged:${workspace}`);
  /** hash record → the log's end when its image was read for a snapshot. */
  seen = (subscription: string, workspace: string): string => this.#subscription(subscription, `seen:${workspace}`);
  /** hash: since when all tries fail, the last failure; why and since when it is disabled, what it missed since. */
  health = (subscription: string): string => this.#subscription(subscription, 'health');

  /** hash with TTL, effect → started or done: what `once` has seen of an event. */
  once = (subscription: string, workspace: string, eventId: string): string =>
    this.#subscription(subscription, `once:${workspace}:${eventId}`);
  /** A pattern of these marks, of all subscriptions. */
  marksOf = (workspace: string): string => this.once('*', workspace, '*');
  /** A subscription's queue as BullMQ names it: its jobs stand behind it by their ids. */
  subscriptionQueue = (subscription: string): string => this.#subscription(subscription, subscription);
  /** A pattern of everything any subscription keeps. */
  everythingOfSubscriptions = (): string => this.#subscription('*', '*');
  /** The subscription that a key belongs to, and the job, if it may be one; null for any other key. */
  subscriptionOf(key: string): { subscription: string; jobId: string | null } | null {
    const start = `${this.prefix}:sub:{`;
    const end = key.indexOf('}:', start.length);
    if (!key.startsWith(start) || end === -1) return null;
    const subscription = key.slice(start.length, end);
    const [queue, jobId, ...more] = key.slice(end + '}:'.length).split(':');
    return { subscription, jobId: queue === subscription && more.length === 0 ? (jobId ?? null) : null };
  }

  #workspace(workspace: string, name: string): string {
    return `${this.prefix}:{${workspace}}:${name}`;
  }

  #subscription(subscription: string, name: string): string {
    return `${this.prefix}:sub:{${subscription}}:${name}`;
  }
}
