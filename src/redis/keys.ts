/**
 * Every Redis key of Changefeed, with its type and contents; `<prefix>` is the option `redis.prefix`.
 *
 * `{…}` is the hash tag of Redis Cluster. All keys of a workspace share one slot, and so do all keys of a subscription. No command and no
 * script uses keys of both: they may be on different servers, of which one alone can go back to an earlier state. What must agree is in one slot.
 */
import type { ListName } from '../crm/lists/lists.js';
import type { Redis } from './client.js';

/** The default of the option `redis.prefix`. */
export const DEFAULT_PREFIX = 'changefeed';

export class Keys {
  constructor(readonly prefix: string = DEFAULT_PREFIX) {}

  /** Never exists. An empty write to it shows whether Redis accepts writes. */
  probe = (): string => `${this.prefix}:probe`;

  /** stream, field `entry` (JSON): who did what, for as long as `audit.keep` says. */
  audit = (): string => `${this.prefix}:audit`;

  /** hash name → invitation to the status page (JSON), with a digest of its token (ops/invites.ts). */
  invites = (): string => `${this.prefix}:invites`;

  /** hash name → workspace that came at run time (JSON), its token sealed (ops/workspaces/); `:revision`: another one after each change. */
  workspaces = (): string => `${this.prefix}:workspaces`;

  /** string (JSON): the configuration that a process has begun with last, without secrets and code (service/last-valid.ts). */
  configuration = (): string => `${this.prefix}:configuration`;

  /** string (JSON): the file of rules as a process has read it last, and whether a person has decided that it is gone for good. */
  rules = (): string => `${this.prefix}:rules`;

  // Per process.

  /** set: ids of the processes that run roles. */
  processes = (): string => `${this.prefix}:processes`;
  /** string with TTL (JSON): what a process runs, and which of its loops are stalled. */
  process = (id: string): string => `${this.prefix}:process:${id}`;

  // Per workspace.

  /** string (JSON): id of this state, since when, when an earlier one was lost; epoch, and when Redis went back. */
  state = (workspace: string): string => this.#workspace(workspace, 'state');
  /** string: the key of the workspace's keyed digests (feed/store/privacy.ts). */
  secret = (workspace: string): string => this.#workspace(workspace, 'secret');
  /** stream, fields `event` (JSON), `type` and `subject`: the event log, which is the outbox of every subscription. */
  log = (workspace: string): string => this.#workspace(workspace, 'log');
  /** hash with TTL, what is counted (JSON) → how often: the events that were logged on a day, such as `2026-11-29`, of the workspace (log/day-counts.ts). */
  day = (workspace: string, date: string): string => this.#workspace(workspace, `day:${date}`);
  /** hash with TTL: `requests`, `records`, `bytes`, `deliveries` of a day of the workspace (log/usage.ts). */
  used = (workspace: string, date: string): string => this.#workspace(workspace, `used:${date}`);
  /** stream with TTL: a copy of the log, or of a history, without erased entries, which takes its place. */
  logCopy = (workspace: string, id: string): string => this.#workspace(workspace, `log-copy:${id}`);
  /** hash subscription → ms: since when no dispatcher has this reader of the log configured; `0`: one has. */
  readers = (workspace: string): string => this.#workspace(workspace, 'readers');
  /**
   * hash with TTL, which is the clock of the request budget: `ends` is the time at which it expires.
   * - `last`: of the last call; `used`: requests in the window then; `count`: requests ever granted
   * - `free`: when the next request is due by even spacing
   * - `refusal`: of the last 429; `level`: requests in the window before it
   */
  budget = (workspace: string): string => this.#workspace(workspace, 'budget');
  /** sorted set with TTL, score: time: the requests granted within the window, by number. */
  budgetWindow = (workspace: string): string => this.#workspace(workspace, 'budget:window');
  /** string with TTL: the pause after a 429. */
  budgetPause = (workspace: string): string => this.#workspace(workspace, 'budget:pause');
  /** sorted set, score ms: `<kind> <key>` of every todo for which an event is due at that time. */
  due = (workspace: string): string => this.#workspace(workspace, 'due');
  /** hash with TTL, `<list> <id>` → what rows of histories say about the record, one JSON per line (credits.ts). */
  credits = (workspace: string): string => this.#workspace(workspace, 'credits');
  /** sorted set with TTL, score ms of the last row: the fields of `credits`. */
  credited = (workspace: string): string => this.#workspace(workspace, 'credited');
  /** hash: `open <problem>` → ms last seen, `facts <problem>` (JSON); `count <subject>` → notices published; `step`, `steps` as in `sweep`, of events that no list's step has. */
  notices = (workspace: string): string => this.#workspace(workspace, 'notices');

  /**
   * hash: for what has not happened. `readTo`: log id up to which the log was read; `followed <list> <what>` (JSON): since when, and the baseline of the
   * list then; `told <list> <stretch>`: ms of the last change, up to which records were told; with ` woken`: ms up to which snoozes have ended.
   */
  unchanged = (workspace: string): string => this.#workspace(workspace, 'unchanged');
  /** sorted set, score ms: since when each record is unchanged; by list and what is followed. */
  unchangedSince = (workspace: string, followed: string): string => this.#workspace(workspace, `unchanged:${followed}`);
  /** sorted set, score ms: until when nothing is told of a record that is unchanged. */
  snoozed = (workspace: string, list: ListName): string => this.#workspace(workspace, `snoozed:${list}`);

  /** sorted set, score ms until when, or `inf`: `<subscription> <list> <id>` of records that a person has muted (delivery/mutes.ts). */
  muted = (workspace: string): string => this.#workspace(workspace, 'muted');

  // Per list of a workspace.

  /** string with TTL: the fencing token of the process that sweeps the list. */
  lease = (workspace: string, list: ListName): string => this.#workspace(workspace, `lease:${list}`);
  /**
   * hash: what the list's sweeps need from one another.
   * - `checkpoint` (JSON) of the sweep under way; `step`: id of its last commit; `steps`: of the last ten
   * - `lastSweep` (JSON): summary of the last complete sweep; `failure` (JSON): why the last attempts failed; `lastFailure` (JSON): the
   *   same of failures that are over
   * - `drifted` (JSON): fields whose drift was reported since the last complete sweep
   * - `baselineAt`: when the baseline was complete; `quiet`: the next baseline yields no events; `kept`: records were stored
   * - `schema <type>\t<field>`, `schema rows`: rows per field and value type; `schemaEvents <field>`: schema events published
   * - `acceptedAt <what>`, `discardedAt <what>`: which held records a person accepted, or discarded; `<what>`: `creations` or `removals`
   * - `fresh`: new records that were reported since the last complete sweep; `discarded`: records that a person kept from the receivers;
   *   `heldExamples` (JSON): some of the new records that are held
   * - `learned` (JSON): what the list's shortcuts have learned
   * - `historySince`, `historyStep`, `historyMasks`: whether and since when its history is kept (lua/past.lua)
   * - `watchedAs` (JSON, list `todo`): the options under which all todo timers were set
   */
  sweep = (workspace: string, list: ListName): string => this.#workspace(workspace, `sweep:${list}`);
  // What the last complete sweep has seen.
  /** hash page → ids of its records, packed (membership.ts). */
  members = (workspace: string, list: ListName): string => this.#workspace(workspace, `members:${list}`);
  /** hash page → how the page is recognised (JSON): cursor, next cursor, digest, records, first page. */
  pages = (workspace: string, list: ListName): string => this.#workspace(workspace, `pages:${list}`);
  /** hash id → since when complete sweeps have not shown the record (JSON). */
  missing = (workspace: string, list: ListName): string => this.#workspace(workspace, `missing:${list}`);
  /** set: ids that only abandoned sweeps, or shortcuts before the sweep under way, have seen. */
  unconfirmed = (workspace: string, list: ListName): string => this.#workspace(workspace, `unconfirmed:${list}`);
  /** set: ids of records that shortcuts created since the last walk began. */
  created = (workspace: string, list: ListName): string => this.#workspace(workspace, `created:${list}`);

  // What the sweep under way has seen.
  /** set: visited cursors. */
  walkCursors = (workspace: string, list: ListName): string => this.#workspace(workspace, `walk-cursors:${list}`);
  /** hash page → ids, as in `members`, of pages whose members changed. */
  walkMembers = (workspace: string, list: ListName): string => this.#workspace(workspace, `walk-members:${list}`);
  /** hash page → how the page is recognised, as in `pages`. */
  walkPages = (workspace: string, list: ListName): string => this.#workspace(workspace, `walk-pages:${list}`);

  /** sorted set with TTL, score ms of naming: `<what named it> <id>` of records to be fetched out of turn. */
  aimed = (workspace: string, list: ListName): string => this.#workspace(workspace, `aimed:${list}`);
  /** hash packed record key → packed stored record, a version byte first (packing.ts). */
  records = (workspace: string, list: ListName): string => this.#workspace(workspace, `records:${list}`);

  /** stream, a field without a name: what undoes a decision about a record, packed (history-packing.ts), and where the one before it is. */
  history = (workspace: string, list: ListName): string => this.#workspace(workspace, `history:${list}`);
  /** hash packed record key → place in `history`: the last change that it has of the record. */
  changed = (workspace: string, list: ListName): string => this.#workspace(workspace, `changed:${list}`);

  /** set: the tombstones of erased records, which are keyed digests of their ids (feed/store/privacy.ts). */
  erased = (workspace: string, list: ListName): string => this.#workspace(workspace, `erased:${list}`);

  /** hash bucket → digests of row keys, 8 bytes each (rows.ts), of a list whose rows are only recognised. */
  rows = (workspace: string, list: ListName): string => this.#workspace(workspace, `rows:${list}`);

  // Per subscription. BullMQ's keys of its queue share the prefix.

  /** hash workspace → log id: the offset up to which it has read the workspace's log. */
  offsets = (subscription: string): string => this.#subscription(subscription, 'offsets');

  /**
   * hash, of a consumer that pulls: `asked`: ms of its last question; `acknowledged`: the last batch that it has; of the batch under way `batch`, `after`
   * (the one acknowledged with the question), `taken` and `until` (ms), `times` in a row, `in <workspace>` (`<from> <to> <first> <events>`, log ids).
   */
  pulled = (subscription: string): string => this.#subscription(subscription, 'pulled');

  /** list of one record's pending deliveries: `<id>␟<log id>␟<ms>␟<kind>␟<type>`; the first has a job, and may run. */
  group = (subscription: string, group: string): string => this.#subscription(subscription, `group:${group}`);
  /** sorted set, score ms and sequence of the log id: deliveries that were entered and are neither handled nor dead. */
  pending = (subscription: string, workspace: string): string =>
    this.#subscription(subscription, `pending:${workspace}`);
  /** string, with TTL unless the source is a log: the serial of the last delivery entered from it. */
  entered = (subscription: string, source: string): string => this.#subscription(subscription, `entered:${source}`);
  /** hash delivery id → event (JSON), of pending deliveries whose event is not in the log. */
  payloads = (subscription: string): string => this.#subscription(subscription, 'payloads');
  /** hash name → task (JSON): backfills (snapshots and replays) that are not complete, and how far each is. */
  backfills = (subscription: string): string => this.#subscription(subscription, 'backfills');
  /** list `<delivery id> <event>` (JSON): events of a snapshot that are being sent. */
  staged = (subscription: string, workspace: string): string => this.#subscription(subscription, `staged:${workspace}`);
  /** hash record → log id: the end of the log when a snapshot read the record's image. */
  seen = (subscription: string, workspace: string): string => this.#subscription(subscription, `seen:${workspace}`);
  /** hash `<snapshot>.<serial>` → `<delivery id> <record>`: what a snapshot has staged and no handler has got yet. */
  undelivered = (subscription: string, workspace: string): string =>
    this.#subscription(subscription, `undelivered:${workspace}`);
  /** stream, field: number of its last receipt, value: receipts of ended attempts (receipt.ts), one a line, some 5 kB. */
  receipts = (subscription: string, workspace: string): string =>
    this.#subscription(subscription, `receipts:${workspace}`);
  /** string: receipts that are not in an entry of `receipts` yet. */
  openReceipts = (subscription: string, workspace: string): string =>
    this.#subscription(subscription, `receipts-open:${workspace}`);
  /** string (JSON): when its copy was verified last, and how many records were found how. */
  verified = (subscription: string, workspace: string): string =>
    this.#subscription(subscription, `verified:${workspace}`);
  /** hash, ms: `failingSince`, `lastFailure`; `digestsOver`: digests in a row that were not sent; `disabledAt`, `reason`; `missing` (token): unread events were trimmed. */
  health = (subscription: string): string => this.#subscription(subscription, 'health');
  /** hash with TTL, effect → `started <token of the attempt>` or `done`: side effects that `once` guards. */
  once = (subscription: string, workspace: string, eventId: string): string =>
    this.#subscription(subscription, `once:${workspace}:${eventId}`);

  // Per destination: a digest of host and path, because the path may be a secret. A subscription that posts nowhere has its name.

  /** string with TTL: messages that were to be sent in this window, of all subscriptions and workspaces. */
  allowance = (destination: string): string => this.#destination(destination, 'allowance');
  /**
   * hash with TTL, ms by the clock of Redis: `at`: of the last call; `last`: when the last attempt went. After a refusal, `held`: until when nothing goes;
   * `probe`: who goes then, alone, and `alone`: until when that is waited for.
   */
  pace = (destination: string): string => this.#destination(destination, 'pace');
  /** sorted set with TTL, score ms: `<subscription>/<job>` of the attempts that wait for their turn. */
  turns = (destination: string): string => this.#destination(destination, 'turns');
  /** sorted set with TTL, score ms: the attempts of the last minute, and those that have a turn, where their number is limited. */
  sent = (destination: string): string => this.#destination(destination, 'sent');

  // BullMQ's own keys.

  /** The prefix that BullMQ gets for a subscription's queue. */
  subscriptionQueuePrefix = (subscription: string): string => `${this.prefix}:sub:{${subscription}}`;
  /** sorted set, score ms: the dead letters. */
  failedJobs = (subscription: string): string => this.#subscription(subscription, `${subscription}:failed`);
  /** hash, `delay`: how long a delayed job was to wait, ms. */
  job = (subscription: string, jobId: string): string => this.#subscription(subscription, `${subscription}:${jobId}`);
  // The following are only read.

  /** sorted set, score ms × 4096 and a serial: the jobs that wait for their time. */
  delayedJobs = (subscription: string): string => this.#subscription(subscription, `${subscription}:delayed`);
  /** string with TTL: the token of the worker that runs the job. */
  jobLock = (subscription: string, jobId: string): string =>
    this.#subscription(subscription, `${subscription}:${jobId}:lock`);

  // Patterns for SCAN. Names of workspaces and subscriptions contain no pattern characters.

  everythingOf = (workspace: string): string => this.#workspace(workspace, '*');
  marksOf = (workspace: string): string => this.once('*', workspace, '*');
  everythingOfSubscription = (subscription: string): string => this.#subscription(subscription, '*');
  everyReaders = (): string => this.readers('*');
  everythingOfSubscriptions = (): string => this.#subscription('*', '*');
  groupsOf = (subscription: string, workspace: string): string => this.group(subscription, `${workspace}/*`);

  /** The subscription that a key belongs to; null for any other key. */
  subscriptionOf(key: string): string | null {
    const start = `${this.prefix}:sub:{`;
    const end = key.indexOf('}:', start.length);
    return key.startsWith(start) && end !== -1 ? key.slice(start.length, end) : null;
  }

  #workspace(workspace: string, name: string): string {
    return `${this.prefix}:{${workspace}}:${name}`;
  }

  #destination(destination: string, name: string): string {
    return `${this.prefix}:to:{${destination}}:${name}`;
  }

  #subscription(subscription: string, name: string): string {
    return `${this.prefix}:sub:{${subscription}}:${name}`;
  }
}

export interface WorkspaceKeys {
  keys: Keys;
  workspace: string;
}

export interface WorkspaceRedis extends WorkspaceKeys {
  redis: Redis;
}

const UUID = 0;
const HEX24 = 1;
const TEXT = 2;

/** UUIDs as 16 bytes, 24-digit hex ids as 12, others as they are. A first byte below three says which. */
export function recordField(key: string): Buffer {
  if (/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/u.test(key))
    return Buffer.from(`0${UUID}${key.replaceAll('-', '')}`, 'hex');
  if (/^[0-9a-f]{24}$/u.test(key)) return Buffer.from(`0${HEX24}${key}`, 'hex');
  const bytes = Buffer.from(key, 'utf8');
  return (bytes[0] ?? 0) <= TEXT ? Buffer.concat([Buffer.of(TEXT), bytes]) : bytes;
}

export function keyOfField(field: Buffer): string {
  if (field[0] !== UUID && field[0] !== HEX24) return field.toString('utf8', field[0] === TEXT ? 1 : 0);
  const hex = field.toString('hex', 1);
  if (field[0] === HEX24) return hex;
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
}

/** A field as redis-cli takes it. */
export function shownField(field: Buffer): string {
  const shown = [...field].map((byte) => (byte > 0x20 && byte < 0x7f ? String.fromCharCode(byte) : hexOf(byte)));
  return `"${shown.join('').replace(/["\\](?!x[0-9a-f]{2})/gu, '\\$&')}"`;
}

function hexOf(byte: number): string {
  return `\\x${byte.toString(16).padStart(2, '0')}`;
}
