/** Finds the records that a complete sweep did not show, and commits what `detect/removal.ts` decides about them. */
import { heldOf, type Held } from '../../detect/held.js';
import { isKnownByContent } from '../../detect/identity.js';
import {
  DEFAULT_REMOVALS,
  GONE,
  HOLD_EVERY_REMOVAL,
  UNCONFIRMED,
  decideRemovals,
  deletedRecord,
  droppedRecord,
  isNewcomer,
  isPresent,
  mergeMentions,
  missingAfter,
  removalEvent,
  survivorOf,
  vanished,
  type Missing,
} from '../../detect/removal.js';
import { addToDelta, type SchemaDelta } from '../../detect/schema-drift/schema.js';
import { valueTypesOf, type StoredRecord } from '../../detect/stored-record.js';
import { NO_TIMERS } from '../../detect/watch-todo.js';
import { nextSequence } from '../../../events/epoch.js';
import type { ChangeEvent } from '../../../events/types.js';
import { isoTime } from '../../../kit/clock.js';
import { parseStored, serialised } from '../records.js';
import { expectCommitted, leaseLost } from '../errors.js';
import { observationOf, type FinishStep, type SweepDeps, type SweepOptions } from '../options.js';
import type { ListName } from '../../../crm/lists/lists.js';
import type { Checkpoint, FinishedPages, Membership, RecordWrite } from '../../store/sweep-state.js';
import type { SweepStore } from '../../store/sweep-store.js';

const RECORDS_PER_STEP = 100;
/** What was missing when the pages were read says nothing about now after this time. */
const LATE_MS = 60_000;

/** The activity that names a merge comes at most this long before the record is first missed. */
const MERGE_LEAD_MS = 86_400_000;
const MERGE_EVENTS_READ = 5_000;

interface FinishedRemovals {
  checkpoint: Checkpoint;
  held: Held | null;
  pages: FinishedPages;
}

/** @returns `left`: on some page before and on none now. `before` has only the pages that were replaced. */
async function readMembershipChange(
  store: SweepStore,
  list: ListName,
  sweptPages: number,
): Promise<{ membership: Membership; left: string[]; pages: FinishedPages }> {
  const membership = await store.membershipChange(list, sweptPages);
  const { before, changed } = membership;
  const gone = vanished({ before, changed, pages: sweptPages });
  const arrived = [...changed].flatMap(([page, keys]) => {
    const old = new Set(before.get(page));
    return keys.filter((key) => !old.has(key));
  });
  const isReplaced = (page: number): boolean => page === UNCONFIRMED || page > sweptPages || changed.has(page);
  const holding = await store.pagesHolding(list, new Set([...gone, ...arrived]), isReplaced);
  const still = new Set([...holding.values()].flat());
  return {
    membership,
    left: gone.filter((key) => !still.has(key)),
    pages: {
      promote: [...changed.keys()],
      drop: [...before.keys()].filter((page) => page > sweptPages || page === UNCONFIRMED),
      forget: [...holding.keys()],
    },
  };
}

/** @param step.creations new records that are held. Then every removal is held as well: the list may be another one */
export async function finishRemovals(
  deps: SweepDeps,
  options: SweepOptions,
  step: FinishStep & { at: string; acceptedAt: string | null; discardedAt: string | null; creations: Held | null },
): Promise<FinishedRemovals> {
  const { store, clock } = deps;
  const { list, removals: rules = DEFAULT_REMOVALS } = options;
  const { at, acceptedAt, discardedAt, creations, lastSweep } = step;
  const { counts, readAt = at } = step.checkpoint;
  const { membership, left, pages } = await readMembershipChange(store, list, step.checkpoint.pages);
  if (step.checkpoint.takesOver === true)
    return { checkpoint: await dropFormer(deps, options, { ...step, membership, left }), held: null, pages };
  const missing = await stillMissing(deps, options, { membership, left, step, at, readAt });
  // Here and not where a person discards them: a sweep that was being finished then would have written them again.
  for (const [key, { since }] of missing) if (discardedAt !== null && since <= discardedAt) missing.delete(key);
  const limits = creations !== null ? HOLD_EVERY_REMOVAL : {};
  const why = creations?.why === 'too many' ? 'creations' : (creations?.why ?? 'too many');
  const present = counts.seen - counts.held;
  const decision = decideRemovals(missing, { present, rules: { ...rules, ...limits }, acceptedAt, readAt });
  const deleted = await withoutNewcomers(deps, options, { keys: decision.deleted, at: isoTime(clock.now()) });
  const gone = new Set(deleted);
  const survivors = await mergeSurvivors(deps, options, { missing, gone });
  const entries = new Map<string, Missing | null>();
  for (const key of membership.missing.keys()) if (!missing.has(key)) entries.set(key, null);
  for (const [key, entry] of missing) entries.set(key, gone.has(key) ? null : entry);
  const checkpoint = await commitSteps(deps, options, { ...step, entries, gone, survivors });
  const since = heldOf(lastSweep?.held, 'removals')?.since ?? at;
  return {
    checkpoint: { ...checkpoint, counts: { ...checkpoint.counts, missing: missing.size - deleted.length } },
    held: decision.held === null ? null : { what: 'removals', why, ...decision.held, since, at },
    pages,
  };
}

async function stillMissing(
  { store }: SweepDeps,
  { list }: SweepOptions,
  {
    membership,
    left,
    step,
    ...times
  }: { membership: Membership; left: readonly string[]; step: FinishStep; at: string; readAt: string },
): Promise<Map<string, Missing>> {
  const { changed, missing } = membership;
  const identified = left.filter((key) => !isKnownByContent(key));
  // May be deleted already: by this sweep before an interruption, or before a lagging replica showed them.
  const digests = await store.digests(list, identified);
  const returned = new Set([...changed.values()].flat());
  const unreported = identified.filter((_key, index) => isPresent(digests[index]));
  const sweeps = { sweep: step.checkpoint.sweepId, lastSweep: step.lastSweep?.sweepId ?? null };
  return missingAfter(missing, { left: unreported, returned, ...sweeps, ...times });
}

async function withoutNewcomers(
  { store }: SweepDeps,
  { list }: SweepOptions,
  { keys, at }: { keys: readonly string[]; at: string },
): Promise<string[]> {
  const old: string[] = [];
  for (let from = 0; from < keys.length; from += RECORDS_PER_STEP) {
    const chunk = keys.slice(from, from + RECORDS_PER_STEP);
    const stored = (await store.records(list, chunk)).map((state) => parseStored(state));
    old.push(...chunk.filter((_key, index) => !isNewcomer(stored[index] ?? null, at)));
  }
  return old;
}

/** After another source's baseline: dropped without events. Sequences stay, so an id seen again counts on. */
async function dropFormer(
  deps: SweepDeps,
  options: SweepOptions,
  { membership, left, ...step }: FinishStep & { membership: Membership; left: readonly string[] },
): Promise<Checkpoint> {
  const { workspace, log } = deps;
  const present = new Set([...membership.changed.values()].flat());
  const entries = new Map([...left, ...membership.missing.keys()].map((key) => [key, null] as const));
  const gone = new Set([...entries.keys()].filter((key) => !present.has(key)));
  const checkpoint = await commitSteps(deps, options, { ...step, entries, gone, survivors: new Map() });
  const facts = { workspace, list: options.list, dropped: gone.size, sweepId: checkpoint.sweepId };
  log.info(facts, 'baseline of a new source: former records dropped');
  return checkpoint;
}

interface Steps extends FinishStep {
  /** Records that become missing, or are missing no longer (null). */
  entries: ReadonlyMap<string, Missing | null>;
  /** Those of them that are deleted, or dropped. */
  gone: ReadonlySet<string>;
  /** The records that deleted ones were merged into. */
  survivors: ReadonlyMap<string, string>;
}

async function commitSteps(deps: SweepDeps, options: SweepOptions, steps: Steps): Promise<Checkpoint> {
  const { entries, gone, token } = steps;
  const { list } = options;
  const all = [...entries];
  const beganMs = deps.clock.monotonic();
  let { checkpoint } = steps;
  for (let at = 0; at < all.length; at += RECORDS_PER_STEP) {
    // Redis did not answer meanwhile: the list may show the records again, so the next lease reads it once more.
    if (deps.clock.monotonic() - beganMs > LATE_MS) throw leaseLost(list);
    const missing = all.slice(at, at + RECORDS_PER_STEP);
    const keys = missing.map(([key]) => key).filter((key) => gone.has(key));
    const schema: SchemaDelta = new Map();
    const writes = await removalWrites(deps, options, { ...steps, keys, schema });
    const deleted = checkpoint.counts.deleted + writes.filter(({ event }) => event !== null).length;
    checkpoint = { ...checkpoint, counts: { ...checkpoint.counts, deleted } };
    expectCommitted(list, await deps.store.commit(list, { token, checkpoint, writes, missing, schema }));
  }
  return checkpoint;
}

/** @param steps.schema changed in place */
async function removalWrites(
  deps: SweepDeps,
  options: SweepOptions,
  { keys, survivors, schema, tracked, checkpoint }: Steps & { keys: readonly string[]; schema: SchemaDelta },
): Promise<RecordWrite[]> {
  const { list, rules } = options;
  const observation = observationOf(deps, options, checkpoint);
  const { observedAt, sweep } = observation;
  const states = await deps.store.records(list, keys);
  return keys.flatMap((key, index): RecordWrite[] => {
    const stored = parseStored(states[index] ?? null);
    if (stored === null || stored.gone !== undefined) return [];
    // Without an image, its value types are not known: it stays in the tally.
    if (stored.record !== null) addToDelta(schema, valueTypesOf(stored.record, rules), null, tracked);
    const timers = rules.watch === null ? [] : NO_TIMERS;
    const write = (after: StoredRecord, event: ChangeEvent | null): RecordWrite[] => [
      { key, state: serialised(after, { digest: GONE, image: null }), event, timers },
    ];
    if (checkpoint.takesOver === true) return write(droppedRecord(stored, observedAt), null);
    const sequence = nextSequence(stored.sequence, observation);
    const removal = { key, record: stored.record, sequence, mergedInto: survivors.get(key) };
    const event = removalEvent(removal, { rules, observation });
    return write(deletedRecord(stored, { at: observedAt, sweep, event: event.id, sequence }, rules), event);
  });
}

async function mergeSurvivors(
  { store }: SweepDeps,
  { list, rules }: SweepOptions,
  { gone, missing }: { gone: ReadonlySet<string>; missing: ReadonlyMap<string, Missing> },
): Promise<Map<string, string>> {
  const survivors = new Map<string, string>();
  if (gone.size === 0 || !rules.list.merged) return survivors;
  const since = earliest([...gone].map((key) => Date.parse(missing.get(key)?.since ?? '')));
  const events = await store.recentEvents(since - MERGE_LEAD_MS, MERGE_EVENTS_READ);
  const mentions = mergeMentions(events, gone);
  const named = [...new Set([...mentions.values()].flatMap((ids) => [...ids]))];
  const digests = await store.digests(list, named);
  const present = new Set(named.filter((key, index) => isPresent(digests[index]) && !gone.has(key)));
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
