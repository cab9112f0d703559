/** Finds the records that a complete sweep did not show, and commits what `detect/removal.ts` decides about them. */
import { heldOf, type Decided, type Held } from '../detect/held.js';
import { knownSeen } from '../detect/creation.js';
import { isKnownByContent } from '../detect/identity.js';
import { DISCARDED, GONE, isInList, isStored } from '../detect/record-state.js';
import {
  DEFAULT_REMOVALS,
  HOLD_EVERY_REMOVAL,
  UNCONFIRMED,
  decideRemovals,
  deletedRecord,
  discardedRecord,
  droppedRecord,
  isNewcomer,
  mergeMentions,
  missingAfter,
  removalEvent,
  survivorOf,
  vanished,
  type Missing,
} from '../detect/removal.js';
import { addToDelta, type SchemaDelta } from '../detect/schema-drift/schema.js';
import { movesBetween } from '../detect/schema-drift/schema.js';
import type { StoredRecord } from '../detect/stored-record.js';
import { NO_TIMERS } from '../detect/watch-todo.js';
import { nextSequence } from '../../events/envelope.js';
import type { ChangeEvent } from '../../events/types.js';
import { isoTime } from '../../kit/clock.js';
import { parseStored, serialised } from './records.js';
import { leaseLost } from './errors.js';
import type { FeedList } from './list.js';
import type { FinishedPages, Membership, RecordWrite, SweepCounts } from '../store/sweep-state.js';

const RECORDS_PER_STEP = 100;
/** Records missing when the pages were read say nothing about now after this time. */
const LATE_MS = 60_000;

/** The activity that names a merge comes at most this long before the record is first missed. */
const MERGE_LEAD_MS = 86_400_000;
const MERGE_EVENTS_READ = 5_000;

/** @returns `left`: on some page before and on none now. `before` has only the pages that were replaced. */
async function readMembershipChange(list: FeedList) {
  const sweptPages = list.checkpoint.pages;
  const membership = await list.membershipChange();
  const { before, changed } = membership;
  const gone = vanished({ before, changed, pages: sweptPages });
  const arrived = [...changed].flatMap(([page, keys]) => {
    const old = new Set(before.get(page));
    return keys.filter((key) => !old.has(key));
  });
  const isReplaced = (page: number): boolean => page === UNCONFIRMED || page > sweptPages || changed.has(page);
  const holding = await list.deps.store.pagesHolding(list.name, new Set([...gone, ...arrived]), isReplaced);
  const still = new Set([...holding.values()].flat());
  const pages: FinishedPages = {
    promote: [...changed.keys()],
    drop: [...before.keys()].filter((page) => page > sweptPages || page === UNCONFIRMED),
    forget: [...holding.keys()],
  };
  return { membership, left: gone.filter((key) => !still.has(key)), pages };
}

/** @param decided.creations new records that are held. Then every removal is held as well: the list may be another one */
export async function finishRemovals(
  list: FeedList,
  decided: {
    at: string;
    decision: Decided;
    snapshots: number;
    creations: Held | null;
  },
): Promise<{ held: Held | null; pages: FinishedPages }> {
  const { at, snapshots, creations } = decided;
  const { acceptedAt, discardedAt } = decided.decision;
  const { counts, readAt = at, takesOver, unnamed = 0 } = list.checkpoint;
  const { membership, left, pages } = await readMembershipChange(list);
  if (takesOver === true) {
    await dropFormer(list, membership, left);
    return { held: null, pages };
  }
  const missing = await stillMissing(list, { membership, left, at, readAt });
  // Here and not where a person discards them: a sweep that was being finished then would have written them again.
  const discarded = new Set<string>();
  for (const [key, { since }] of missing) {
    if (discardedAt === null || since > discardedAt) continue;
    missing.delete(key);
    discarded.add(key);
  }
  const limits = creations !== null ? HOLD_EVERY_REMOVAL : {};
  const byCreations = creations?.why === 'too many' ? 'creations' : creations?.why;
  // New ones do not count: they say nothing about how many of the known records are still there.
  const present = knownSeen({ seen: counts.seen - counts.held, fresh: list.fresh });
  const rules = { ...(list.options.removals ?? DEFAULT_REMOVALS), ...limits };
  const decision = decideRemovals(missing, { present, unnamed, rules, acceptedAt, readAt });
  const deleted = await withoutNewcomers(list, { keys: decision.deleted, at: isoTime(list.deps.clock.now()) });
  const gone = new Set(deleted);
  const survivors = await mergeSurvivors(list, { missing, gone });
  const entries = new Map<string, Missing | null>();
  for (const key of membership.missing.keys()) if (!missing.has(key)) entries.set(key, null);
  for (const [key, entry] of missing) entries.set(key, gone.has(key) ? null : entry);
  for (const key of discarded) entries.set(key, null);
  await commitSteps(list, { entries, gone, discarded, snapshots, survivors });
  count(list, { missing: missing.size - deleted.length });
  if (decision.held === null) return { held: null, pages };
  const since = heldOf(list.lastSweep?.held, 'removals')?.since ?? at;
  const why = byCreations ?? decision.held.why;
  return { held: { what: 'removals', ...decision.held, why, since, at }, pages };
}

function count(list: FeedList, counts: Partial<SweepCounts>): void {
  const { checkpoint } = list;
  list.checkpoint = { ...checkpoint, counts: { ...checkpoint.counts, ...counts } };
}

async function stillMissing(
  { name, rules, deps: { store }, checkpoint, lastSweep }: FeedList,
  { membership, left, ...times }: { membership: Membership; left: readonly string[]; at: string; readAt: string },
): Promise<Map<string, Missing>> {
  const { changed, missing } = membership;
  const identified = left.filter((key) => !isKnownByContent(key, rules));
  // May be deleted already: by this sweep before an interruption, or before a lagging replica showed them.
  const digests = await store.digests(name, identified);
  const returned = new Set([...changed.values()].flat());
  const unreported = identified.filter((_key, index) => isInList(digests[index]));
  const { sweepId, unnamed = 0 } = lastSweep ?? { sweepId: null };
  const sweeps = { sweep: checkpoint.sweepId, lastSweep: sweepId, unnamed };
  return missingAfter(missing, { left: unreported, returned, ...sweeps, ...times });
}

async function withoutNewcomers(
  { name, rules, deps: { store } }: FeedList,
  { keys, at }: { keys: readonly string[]; at: string },
): Promise<string[]> {
  const old: string[] = [];
  for (let from = 0; from < keys.length; from += RECORDS_PER_STEP) {
    const chunk = keys.slice(from, from + RECORDS_PER_STEP);
    const stored = (await store.records(name, chunk)).map((state) => parseStored(state, rules));
    old.push(...chunk.filter((_key, index) => !isNewcomer(stored[index] ?? null, at)));
  }
  return old;
}

/** After another source's baseline: dropped without events. Sequences stay, so an id seen again counts on. */
async function dropFormer(list: FeedList, membership: Membership, vanished: readonly string[]): Promise<void> {
  const { workspace, log } = list.deps;
  const present = new Set([...membership.changed.values()].flat());
  const entries = new Map([...vanished, ...membership.missing.keys()].map((key) => [key, null] as const));
  const gone = new Set([...entries.keys()].filter((key) => !present.has(key)));
  await commitSteps(list, { entries, gone, discarded: new Set(), snapshots: 0, survivors: new Map() });
  const facts = { workspace, list: list.name, dropped: gone.size, sweepId: list.checkpoint.sweepId };
  log.info(facts, 'baseline of a new source: former records dropped');
}

interface Removals {
  /** Records that become missing, or are missing no longer (null). */
  entries: ReadonlyMap<string, Missing | null>;
  /** The records among them that are deleted, or dropped. */
  gone: ReadonlySet<string>;
  /** The records among them whose removal a person keeps from the receivers. */
  discarded: ReadonlySet<string>;
  /** How many snapshots of the list were begun. */
  snapshots: number;
  /** The records that deleted ones were merged into. */
  survivors: ReadonlyMap<string, string>;
}

async function commitSteps(list: FeedList, removals: Removals): Promise<void> {
  const { clock } = list.deps;
  const { entries, gone, discarded } = removals;
  const all = [...entries];
  const beganMs = clock.monotonic();
  for (let at = 0; at < all.length; at += RECORDS_PER_STEP) {
    // Redis did not answer meanwhile: the list may show the records again, so the next lease reads it once more.
    if (clock.monotonic() - beganMs > LATE_MS) throw leaseLost(list.name);
    const missing = all.slice(at, at + RECORDS_PER_STEP);
    const keys = missing.map(([key]) => key).filter((key) => gone.has(key) || discarded.has(key));
    const schema: SchemaDelta = new Map();
    const writes = await removalWrites(list, { ...removals, keys, schema });
    const reported = writes.filter(({ event }) => event !== null).length;
    count(list, { deleted: list.checkpoint.counts.deleted + reported });
    const now = writes.filter(({ key }) => discarded.has(key)).length;
    await list.commit({
      checkpoint: list.checkpoint,
      writes,
      missing,
      schema,
      counted: { discarded: now, quietly: now },
    });
  }
}

/** @param of.schema changed in place */
async function removalWrites(
  list: FeedList,
  {
    keys,
    discarded,
    snapshots,
    survivors,
    schema,
  }: Pick<Removals, 'discarded' | 'snapshots' | 'survivors'> & { keys: readonly string[]; schema: SchemaDelta },
): Promise<RecordWrite[]> {
  const { rules, tracked, checkpoint } = list;
  const observation = list.observation();
  const { observedAt, sweep } = observation;
  const states = await list.deps.store.records(list.name, keys);
  return keys.flatMap((key, index): RecordWrite[] => {
    const state = states[index] ?? null;
    const stored = parseStored(state, rules);
    if (!isStored(stored)) return [];
    // Without an image, its value types are not known: it stays in the tally.
    if (stored.record !== null)
      addToDelta(schema, { moves: movesBetween(stored.record, {}, rules), rows: -1, tracked });
    const timers = rules.watch === null ? [] : NO_TIMERS;
    const { record } = stored;
    const past = record === null ? {} : { past: { at: observedAt, undo: { was: 'whole', record } as const } };
    const write = (after: StoredRecord, event: ChangeEvent | null): RecordWrite[] => [
      { key, state: serialised(after, { digest: GONE, image: null }), event, timers, ...past },
    ];
    if (discarded.has(key)) {
      const after = discardedRecord(stored, { at: observedAt, sweep, snapshots });
      const kept = serialised(after, { digest: DISCARDED, image: state?.image ?? null });
      return [{ key, state: kept, event: null, timers, ...past }];
    }
    if (checkpoint.takesOver === true) return write(droppedRecord(stored, observedAt), null);
    const sequence = nextSequence(stored.sequence, observation);
    const removal = { key, record: stored.record, sequence, mergedInto: survivors.get(key) };
    const event = removalEvent(removal, { rules, observation });
    return write(deletedRecord(stored, { at: observedAt, sweep, event: event.id, sequence }, rules), event);
  });
}

async function mergeSurvivors(
  { name, rules, deps: { store } }: FeedList,
  { gone, missing }: { gone: ReadonlySet<string>; missing: ReadonlyMap<string, Missing> },
): Promise<Map<string, string>> {
  const survivors = new Map<string, string>();
  if (gone.size === 0 || !rules.list.merged) return survivors;
  const since = earliest([...gone].map((key) => Date.parse(missing.get(key)?.since ?? '')));
  const events = await store.recentEvents(since - MERGE_LEAD_MS, MERGE_EVENTS_READ);
  const mentions = mergeMentions(events, gone);
  const named = [...new Set([...mentions.values()].flatMap((ids) => [...ids]))];
  const digests = await store.digests(name, named);
  const present = new Set(named.filter((key, index) => isInList(digests[index]) && !gone.has(key)));
  for (const [key, ids] of mentions) {
    const survivor = survivorOf(ids, (id) => present.has(id));
    if (survivor !== undefined) survivors.set(key, survivor);
  }
  return survivors;
}

/** Not Math.min(...times): 100,000 records may be deleted at once, and so many arguments overflow the stack. */
function earliest(times: readonly number[]): number {
  return times.reduce((first, time) => Math.min(first, time), Infinity);
}
