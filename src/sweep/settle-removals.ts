/** Who is missing after a complete sweep, who was so once before, and what is said about it. */
import { withinLag } from '../detect/age.js';
import { creationTimeOf } from '../detect/fields.js';
import { appearedAt } from '../detect/known.js';
import { rememberGone } from '../detect/remember.js';
import { removalEvent } from '../detect/happening.js';
import { isKnownByContent } from '../detect/identity.js';
import { mergeMentions, survivorOf } from '../detect/merge.js';
import {
  DEFAULT_REMOVALS,
  STRAYS,
  decideRemovals,
  missingAfter,
  vanished,
  type HeldRemovals,
  type Missing,
} from '../detect/removal.js';
import { addToDelta, type SchemaDelta, type TrackedFields } from '../detect/schema.js';
import { NO_TIMERS } from '../detect/watch.js';
import { isoTime } from '../runtime/clock.js';
import { countedForms, knownRecord } from './judge-record.js';
import { observationOf } from './observation.js';
import type { SweepDeps, SweepOptions } from './options.js';
import { unfenced, type Settling } from './settling.js';
import { GONE, type Checkpoint, type Membership, type SweptRecordState, type RecordWrite } from './store.js';

const RECORDS_PER_STEP = 100;

/** A merge is told by an activity at most this long before its record was first missed. */
const MERGE_LEAD_MS = 86_400_000;
const MERGE_EVENTS_LOOKED_AT = 5_000;

export interface SettledRemovals {
  checkpoint: Checkpoint;
  held: HeldRemovals | null;
  /** Pages whose new members the next sweep compares with, and pages that are no more. */
  promote: number[];
  drop: number[];
}

export async function settleRemovals(
  deps: SweepDeps,
  options: SweepOptions,
  settling: Settling,
): Promise<SettledRemovals> {
  const { store, clock, log, workspace } = deps;
  const { list, removals: rules = DEFAULT_REMOVALS } = options;
  const { pages, sweepId, counts, creations } = settling.checkpoint;
  const membership = await store.membership(list);
  const at = isoTime(clock.now());
  const missing = await stillMissing(deps, options, { membership, checkpoint: settling.checkpoint, at });
  const acceptedAt = await store.removalsAcceptedAt(list);
  // Where hardly any known record is shown, none of the others is believed to be gone, however few they are.
  const limits = creations?.held?.replaced === true ? { maxShare: 0, maxCount: 0 } : {};
  const present = counts.seen - counts.withheld;
  const decision = decideRemovals(missing, { present, rules: { ...rules, ...limits }, acceptedAt, at });
  const { deleted: confirmed, held } = decision;
  const deleted = await withoutNewcomers(deps, options, { keys: confirmed, at });
  if (held !== null) {
    const { count, of } = held;
    log.warn({ workspace, list, missing: count, of, sweep: sweepId }, 'removals held: too many records are missing');
  }
  const checkpoint = await commitSteps(deps, options, { ...settling, membership, missing, deleted });
  return {
    checkpoint: { ...checkpoint, counts: { ...checkpoint.counts, missing: missing.size - deleted.length } },
    held,
    promote: [...membership.changed.keys()],
    drop: [...membership.before.keys()].filter((page) => page > pages || page === STRAYS),
  };
}

/** Records on no page of this sweep, with how often that was so. */
async function stillMissing(
  { store }: SweepDeps,
  { list }: SweepOptions,
  { membership, checkpoint, at }: { membership: Membership; checkpoint: Checkpoint; at: string },
): Promise<Map<string, Missing>> {
  const { before, changed, missing } = membership;
  const left = vanished({ before, changed, pages: checkpoint.pages }).filter((key) => !isKnownByContent(key));
  // Those reported already: this sweep did so before it was interrupted, or a lagging replica showed them once more.
  const digests = await store.digests(list, left);
  const returned = new Set([...changed.values()].flat());
  const unreported = left.filter((_key, index) => digests[index] !== GONE && digests[index] !== null);
  return missingAfter(missing, { left: unreported, returned, sweep: checkpoint.sweepId, at });
}

/** A replica that lags has not heard of the newest records yet: their absence says nothing before its lag is over. */
async function withoutNewcomers(
  { store }: SweepDeps,
  { list }: SweepOptions,
  { keys, at }: { keys: readonly string[]; at: string },
): Promise<string[]> {
  const old: string[] = [];
  for (let from = 0; from < keys.length; from += RECORDS_PER_STEP) {
    const chunk = keys.slice(from, from + RECORDS_PER_STEP);
    const states = await store.records(list, chunk);
    old.push(...chunk.filter((_key, index) => !isNewcomer(states[index] ?? null, at)));
  }
  return old;
}

function isNewcomer(state: SweptRecordState | null, at: string): boolean {
  if (state === null) return false;
  const known = knownRecord(state);
  return withinLag(appearedAt(known), at) || withinLag(creationTimeOf(known.record ?? {}), at);
}

interface Steps extends Settling {
  membership: Membership;
  missing: ReadonlyMap<string, Missing>;
  deleted: readonly string[];
}

async function commitSteps(deps: SweepDeps, options: SweepOptions, steps: Steps): Promise<Checkpoint> {
  const { membership, missing, deleted, token, tracked } = steps;
  const { list } = options;
  const gone = new Set(deleted);
  const survivors = await mergeSurvivors(deps, options, steps);
  const entries = new Map<string, Missing | null>();
  for (const key of membership.missing.keys()) if (!missing.has(key)) entries.set(key, null);
  for (const [key, entry] of missing) entries.set(key, gone.has(key) ? null : entry);
  const all = [...entries];
  let { checkpoint } = steps;
  for (let at = 0; at < all.length; at += RECORDS_PER_STEP) {
    const chunk = all.slice(at, at + RECORDS_PER_STEP);
    const keys = chunk.map(([key]) => key).filter((key) => gone.has(key));
    const schema: SchemaDelta = new Map();
    const writes = await removalWrites(deps, options, { keys, survivors, schema, tracked, checkpoint });
    const counts = { ...checkpoint.counts, deleted: checkpoint.counts.deleted + writes.length };
    checkpoint = { ...checkpoint, counts };
    unfenced(list, await deps.store.commitRemovals(list, { token, checkpoint, writes, missing: chunk, schema }));
  }
  return checkpoint;
}

interface WriteOptions {
  keys: readonly string[];
  survivors: ReadonlyMap<string, string>;
  /** Added to. */
  schema: SchemaDelta;
  tracked: TrackedFields;
  checkpoint: Checkpoint;
}

async function removalWrites(
  deps: SweepDeps,
  options: SweepOptions,
  { keys, survivors, schema, tracked, checkpoint }: WriteOptions,
): Promise<RecordWrite[]> {
  const { list, rules, images = true } = options;
  const observation = observationOf(deps, options, { checkpoint, lastSweep: null });
  const states = await deps.store.records(list, keys);
  return keys.flatMap((key, index): RecordWrite[] => {
    const state = states[index] ?? null;
    if (state === null || state.gone !== undefined) return [];
    const known = knownRecord(state);
    const removal = { key, record: known.record, sequence: known.sequence + 1, mergedInto: survivors.get(key) };
    const event = removalEvent(removal, { rules, observation, images });
    const at = { at: observation.observedAt, sweep: observation.sweep, event: event.id };
    const { record: _, ...memory } = rememberGone(known, at, rules);
    addToDelta(schema, countedForms(state, known, rules), null, tracked);
    const timers = rules.watch === null ? [] : NO_TIMERS;
    return [{ key, state: { ...memory, digest: GONE, image: null }, event, timers }];
  });
}

/** Only people and organizations are merged. */
async function mergeSurvivors(
  { store }: SweepDeps,
  { list }: SweepOptions,
  { deleted, missing }: Steps,
): Promise<Map<string, string>> {
  const survivors = new Map<string, string>();
  if (deleted.length === 0 || (list !== 'people' && list !== 'organization')) return survivors;
  const since = earliest(deleted.map((key) => Date.parse(missing.get(key)?.since ?? '')));
  const events = await store.recentEvents(since - MERGE_LEAD_MS, MERGE_EVENTS_LOOKED_AT);
  const mentions = mergeMentions(events, new Set(deleted));
  const named = [...new Set([...mentions.values()].flatMap((ids) => [...ids]))];
  const digests = await store.digests(list, named);
  const gone = new Set(deleted);
  const present = new Set(
    named.filter((key, index) => ![null, GONE].includes(digests[index] ?? null) && !gone.has(key)),
  );
  for (const [key, ids] of mentions) {
    const survivor = survivorOf(ids, (id) => present.has(id));
    if (survivor !== undefined) survivors.set(key, survivor);
  }
  return survivors;
}

/** Not Math.min(...times): 100,000 records may go at once, and that many arguments overflow the stack. */
function earliest(times: readonly number[]): number {
  return times.reduce((first, time) => Math.min(first, time), Infinity);
}
