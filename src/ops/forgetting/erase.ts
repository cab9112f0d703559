/**
 * Erases one record: what is stored of it, its events in the log, and what subscriptions keep of these. Its tombstone is written first,
 * which ends the lease of its list: from then on nothing about it is logged. The rest goes in passes, until one finds nothing: by
 * then a batch that another process was writing is stored. After a crash the next call continues.
 */
import type { Queue } from 'bullmq';
import type { Lists } from '../../crm/lists/lists.js';
import type { UncheckedRecord } from '../../crm/record.js';
import {
  deadJobs,
  eraseDeliveries,
  keptEvents,
  type ErasedDeliveries,
  type ErasedRecord,
} from '../../delivery/act/erase.js';
import { createHealthStore } from '../../delivery/health.js';
import { createRecordGate } from '../../delivery/groups/gate.js';
import type { Subscription } from '../../delivery/handlers/handler.js';
import type { JobData } from '../../delivery/queues.js';
import { createReceiptStore } from '../../delivery/receipts/receipts.js';
import { listsCovered } from '../../delivery/act/snapshot.js';
import { titleOfEvent, titleOfRecord } from '../../events/describe.js';
import { objectOf, workspaceOf } from '../../events/envelope.js';
import { readsWorkspace } from '../../events/pattern.js';
import type { ChangeEvent, LoggedEvent } from '../../events/types.js';
import type { Rules } from '../../feed/detect/rules.js';
import { addToDelta, TrackedFields, type SchemaDelta } from '../../feed/detect/schema-drift/schema.js';
import { movesBetween } from '../../feed/detect/schema-drift/schema.js';
import type { RecordPast } from '../../feed/store/history.js';
import type { SweepStore } from '../../feed/store/sweep-store.js';
import type { Clock } from '../../kit/clock.js';
import { messageOf } from '../../kit/errors.js';
import { textOf } from '../../kit/utf8.js';
import { isDiscarded, isStored } from '../../feed/detect/record-state.js';
import type { EventLog } from '../../log/event-log.js';
import { serversOf, type Redis } from '../../redis/client.js';
import type { Keys } from '../../redis/keys.js';
import { readSetting, unlessForbidden } from '../../redis/conditions.js';
import { inEachQueue, type TracesDeps } from './forget.js';

/** Which record is erased. */
export interface EraseCall {
  workspace: string;
  list: string;
  id: string;
  /** Only says what is there. @defaultValue false */
  dryRun?: boolean | undefined;
}

/** What `erase` removed. */
export interface Erased {
  workspace: string;
  list: string;
  /** A keyed digest of the id. The record of decisions names the record by it. */
  tombstone: string;
  /** A record was stored. */
  stored: boolean;
  /** Events in the log. */
  events: number;
  /** Changes in its history; null with `dryRun`. */
  changes: number | null;
  /** What subscriptions kept; null with `dryRun`. */
  kept: ErasedDeliveries | null;
  /** Tables of `postgres`: the rows that were deleted, or why none could be. */
  tables: { subscription: string; rows: number; problem: string | null }[];
  /** Records and rows that contain its id, its name, or one of its e-mail addresses and phone numbers. They are not erased. */
  related: RelatedRecord[];
  /** What contains one of these and is no record: an event of the feed itself, why a subscription is paused or fails, a rule. It is not erased. */
  mentions: Mention[];
  /** Subscriptions that may have delivered it to where nothing can be erased. */
  outOfReach: { subscription: string; handler: string; address: string | null }[];
  /** The files of Redis: they are written anew now, Redis refused it, or it has none. */
  disk: 'rewriting' | 'refused' | 'none' | null;
}

/** `title`: what it is called; null where it says nothing, or is no longer stored. */
export interface RelatedRecord {
  list: string;
  id: string;
  title: string | null;
}

/** Where a record is named: `log` has the type and subject of the event; `rule` the id of the rule, or the file where it is not valid. */
export interface Mention {
  in: 'log' | 'subscription' | 'rule';
  name: string;
}

export interface EraseDeps extends TracesDeps {
  redis: Redis;
  keys: Keys;
  log: EventLog;
  store: SweepStore;
  rules: Rules;
  lists: Lists;
  subscriptions: readonly Subscription[];
  /** The rules of the page, as JSON. */
  ruleTexts: () => { name: string; text: string }[];
  clock: Clock;
}

const BETWEEN_PASSES_MS = 250;
/** How long it waits for handlers that are running with its events. */
const PATIENCE_MS = 30_000;

export async function eraseRecord({ dryRun = false, ...record }: EraseCall, deps: EraseDeps): Promise<Erased> {
  const { store, rules, subscriptions } = deps;
  const { workspace, list, id } = record;
  const { object } = rules.list;
  const isOf = (event: ChangeEvent): boolean =>
    event.subject === id && objectOf(event) === object && workspaceOf(event) === workspace;
  const [state = null] = await store.records(list, [id]);
  const image = state?.image == null ? null : (JSON.parse(state.image) as UncheckedRecord);
  const known = await ownEvents({ ...record, isOf }, deps);
  const words = wordsOf(id, [image, ...known.flatMap(({ event: { data } }) => [data.before, data.after])]);
  const { related, mentions } = await findRelated({ ...record, words, isOf }, deps);
  const wanted = subscriptions.filter((one) => readsWorkspace(one, workspace) && listsCovered(one).includes(list));
  const erased: Erased = {
    ...{ workspace, list, tombstone: await store.tombstoneOf(id) },
    stored: isStored(state),
    ...{ events: known.length, changes: null, kept: null, tables: [], related, mentions, disk: null },
    outOfReach: wanted
      .filter(({ erase }) => erase === undefined)
      .map(({ name, handler, address = null }) => ({ subscription: name, handler, address })),
  };
  if (dryRun) return erased;
  const pages = await store.pagesHolding(list, new Set([id]), () => false);
  await store.erase(list, id, {
    pages: [...pages.keys()],
    schema: await schemaOf(isStored(state) ? image : null, deps),
    isDiscarded: isDiscarded(state),
  });
  erased.changes = await store.eraseHistory(list, id);
  const eventIds = new Set<string>();
  Object.assign(erased, await eraseInPasses({ ...record, object, isOf, eventIds }, deps));
  for (const { name, erase } of subscriptions.filter((one) => readsWorkspace(one, workspace))) {
    if (erase === undefined) continue;
    const outcome = await erase(record).then(
      (rows) => ({ rows, problem: null }),
      (error: unknown) => ({ rows: 0, problem: messageOf(error) }),
    );
    erased.tables.push({ subscription: name, ...outcome });
  }
  return { ...erased, disk: await rewriteFiles(deps.redis) };
}

async function eraseInPasses(record: ErasedRecord & { eventIds: Set<string> }, deps: EraseDeps) {
  const { log, clock, redis, keys } = deps;
  const stores = { redis, keys, gate: createRecordGate(redis, keys), receipts: createReceiptStore(redis, keys) };
  const kept: ErasedDeliveries = { deliveries: 0, deadLetters: 0, receipts: 0, running: 0 };
  const others = new Set<string>();
  const deadlineMs = clock.monotonic() + PATIENCE_MS;
  for (let events = 0; ;) {
    const own = await ownEvents(record, deps);
    for (const { event } of own) record.eventIds.add(event.id);
    let found = await log.erase(
      record.workspace,
      own.map(({ logId }) => logId),
    );
    events += found;
    kept.running = 0;
    for (const one of await inEachQueue(deps, (queue) => eraseDeliveries(record, others, { ...stores, queue }))) {
      found += one.deliveries + one.deadLetters + one.receipts;
      for (const what of ['deliveries', 'deadLetters', 'receipts', 'running'] as const) kept[what] += one[what];
    }
    if ((found === 0 && kept.running === 0) || clock.monotonic() >= deadlineMs) return { events, kept };
    await clock.sleep(BETWEEN_PASSES_MS);
  }
}

/** What its row counts for in the tally of the list's schema. */
async function schemaOf(image: UncheckedRecord | null, { store, rules }: EraseDeps): Promise<SchemaDelta> {
  const schema: SchemaDelta = new Map();
  if (image === null) return schema;
  const tracked = new TrackedFields(await store.schema(rules.list.name));
  addToDelta(schema, { moves: movesBetween(image, {}, rules), rows: -1, tracked });
  return schema;
}

/** How the id stands in JSON; with its quotes where it is short, as it may be part of another text. */
function texts(id: string): string {
  const json = JSON.stringify(id);
  return id.length < 16 ? json : json.slice(1, -1);
}

const NAMES = ['이름', 'name'];
const EMAIL = /^[^\s@]+@[^\s@]+\.[^\s@]+$/u;
const PHONE = /^\+?[\d\s().-]{7,20}$/u;

/** What tells that a row is about it, as JSON has it: its id, names, e-mail addresses and phone numbers. */
function wordsOf(id: string, images: readonly (UncheckedRecord | null)[]): string[] {
  const words = new Set<string>();
  const add = (value: unknown): void => {
    if (typeof value === 'object' && value !== null) for (const one of Object.values(value)) add(one);
    else if (typeof value === 'string' && (EMAIL.test(value) || isPhone(value))) words.add(value);
  };
  for (const image of images) {
    for (const name of NAMES) {
      const value = image?.[name];
      if (typeof value === 'string' && value.length > 1) words.add(value);
    }
    add(image);
  }
  return [texts(id), ...[...words].map((word) => JSON.stringify(word).slice(1, -1))];
}

function isPhone(text: string): boolean {
  return PHONE.test(text) && !/^\d{4}-\d{2}-\d{2}/u.test(text) && text.replace(/\D/gu, '').length >= 7;
}

type Own = Pick<ErasedRecord, 'workspace' | 'id' | 'isOf'>;

async function ownEvents({ workspace, id, isOf }: Own, { log }: EraseDeps): Promise<LoggedEvent[]> {
  const found: LoggedEvent[] = [];
  for await (const entries of log.query({ workspaces: [workspace], order: 'newest', record: id }))
    found.push(...entries.map((entry) => entry.logged()).filter(({ event }) => isOf(event)));
  return found;
}

interface Related extends EraseCall, Own {
  words: readonly string[];
}

async function findRelated(
  { workspace, list, id, words, isOf }: Related,
  deps: EraseDeps,
): Promise<Pick<Erased, 'related' | 'mentions'>> {
  const { redis, keys, lists, traces } = deps;
  const health = createHealthStore(redis, keys);
  const mentions = new Map<string, Mention>();
  const mention = (one: Mention): void => void mentions.set(`${one.in} ${one.name}`, one);
  const found = new Map<string, RelatedRecord>();
  // The stored record says best what it is called, and comes first.
  const add = (one: RelatedRecord): void => {
    const key = `${one.list} ${one.id}`;
    if (found.get(key)?.title == null) found.set(key, one);
  };
  const says = (text: string): boolean => words.some((word) => text.includes(word));
  const addEvent = (event: ChangeEvent): void => {
    const of = lists.byObject(objectOf(event))?.name;
    if (workspaceOf(event) !== workspace || isOf(event)) return;
    if (of === undefined) mention({ in: 'log', name: `${event.type} ${event.subject}` });
    else add({ list: of, id: event.subject, title: titleOfEvent(event) });
  };
  for (const stored of await traces.storedLists(workspace))
    for await (const { records } of deps.store.everyPast(stored, 0))
      for (const one of records)
        if ((stored !== list || one.key !== id) && (await isSaid(one, says)))
          add({ list: stored, id: one.key, title: one.record === null ? null : titleOfRecord(one.record) });
  for await (const entries of deps.log.query({ workspaces: [workspace], order: 'newest' }))
    for (const entry of entries) if (says(textOf(entry.bytes))) addEvent(entry.parse());
  await inEachQueue(deps, async (queue: Queue<JobData>) => {
    for await (const { json, event } of keptEvents({ redis, keys, queue }, workspace)) if (says(json)) addEvent(event);
    for (const { event } of await deadJobs(queue, workspace)) if (says(JSON.stringify(event))) addEvent(event);
    const { paused, lastError } = await health.read(queue.name);
    if (says(JSON.stringify([paused, lastError]))) mention({ in: 'subscription', name: queue.name });
  });
  for (const { name, text } of deps.ruleTexts()) if (says(text)) mention({ in: 'rule', name });
  return { related: inOrder(found), mentions: inOrder(mentions) };
}

/** In the record as it is, or as it was. */
async function isSaid({ record, pasts }: RecordPast, says: (text: string) => boolean): Promise<boolean> {
  if (record !== null && says(JSON.stringify(record))) return true;
  for await (const { undo } of pasts) if (says(JSON.stringify(undo))) return true;
  return false;
}

function inOrder<One>(found: ReadonlyMap<string, One>): One[] {
  return [...found].sort(([one], [other]) => (one < other ? -1 : 1)).map(([, one]) => one);
}

/** Deleted keys stay in the files of Redis until these are written anew. */
async function rewriteFiles(redis: Redis): Promise<Erased['disk']> {
  let disk: Erased['disk'] = 'none';
  for (const server of await serversOf(redis)) {
    const hasLog = (await unlessForbidden(server.info('persistence')))?.includes('aof_enabled:1') ?? true;
    const hasSnapshots = ((await readSetting(server, 'save')) ?? '') !== '';
    try {
      if (hasLog) await server.bgrewriteaof();
      if (hasSnapshots) await server.bgsave('SCHEDULE');
      if ((hasLog || hasSnapshots) && disk === 'none') disk = 'rewriting';
    } catch {
      // Not permitted, or one is under way that began before.
      disk = 'refused';
    }
  }
  return disk;
}
