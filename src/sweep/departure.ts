/** Where a sweep starts: where an interrupted one stood, if that is not too long ago, with what that one knew. */
import { createTrail, type Trail } from '../api/trail.js';
import { noDrift } from '../detect/drift.js';
import { STRAYS } from '../detect/removal.js';
import { TrackedFields } from '../detect/schema.js';
import type { ListName } from '../events/lists.js';
import { isoTime } from '../runtime/clock.js';
import { noCounts } from './counts.js';
import type { SweepMemory } from './judging.js';
import { placeOfPart } from './page-parts.js';
import type { SweepDeps } from './options.js';
import { unfenced } from './settling.js';
import { isSameSource } from './source.js';
import type { Checkpoint, FencingToken, StoredSweep, SweepCounts, SweepStore } from './store.js';

/** A checkpoint older than this is not resumed: its cursors may be dead, and its first half shows another day. */
const CHECKPOINT_LIFE_MS = 3_600_000;

/** What a walk begins with. */
export interface WalkStart {
  /** So many new records may pass. */
  allowed: number;
  /** What an earlier walk of the same sweep has reported. */
  counts: SweepCounts;
}

export async function departure(
  { store, clock, log, source }: SweepDeps,
  list: ListName,
  { token, stored, start }: { token: FencingToken; stored: StoredSweep; start: WalkStart },
): Promise<{ checkpoint: Checkpoint; trail: Trail }> {
  const { checkpoint, cursors, cutOff, state } = stored;
  const now = clock.now();
  if (checkpoint !== null && isSameSource(checkpoint.source, source) && isAlive(checkpoint, now)) {
    log.info({ list, pages: checkpoint.pages, sweep: checkpoint.sweepId }, 'sweep resumed');
    return {
      checkpoint: resumed(checkpoint, start),
      trail: createTrail({ firstPage: checkpoint.firstPage, cursors }),
    };
  }
  if (checkpoint !== null || cutOff) unfenced(list, await store.abandon(list, token));
  const takesOver = state.baselineAt === null && isTakeover(stored, source);
  const fresh: Checkpoint = {
    sweepId: `${list}-${token}-${now.toString(36)}`,
    startedAt: isoTime(now),
    mode: state.baselineAt === null ? 'baseline' : 'changes',
    ...(state.quiet && { quiet: true }),
    cursor: null,
    pages: 0,
    counts: start.counts,
    firstPage: null,
    drift: noDrift((takesOver ? null : state.lastSweep) ?? {}),
    ...(source !== undefined && { source }),
    ...(takesOver && { takesOver }),
    ...(start.allowed > 0 && { creations: { fresh: 0, allowed: start.allowed } }),
  };
  return { checkpoint: fresh, trail: createTrail({ firstPage: null, cursors: [] }) };
}

/** The records known are of another source, by its address or by what it shows: this baseline replaces them. */
function isTakeover({ checkpoint, state: { lastSweep } }: StoredSweep, source: string | undefined): boolean {
  if (checkpoint?.takesOver === true || !isSameSource(checkpoint?.source, source)) return true;
  if (lastSweep === null) return false;
  return !isSameSource(lastSweep.source, source) || lastSweep.heldCreations?.replaced === true;
}

function resumed(checkpoint: Checkpoint, { allowed }: WalkStart): Checkpoint {
  const { counts, creations } = checkpoint;
  return {
    ...checkpoint,
    // An older release has not counted everything.
    counts: { ...noCounts(), ...counts },
    ...(creations !== undefined && { creations: { ...creations, allowed: Math.max(allowed, creations.allowed) } }),
  };
}

/** What is left of a sweep that saw every page needs no cursor: it is finished however old it is. */
function isAlive({ startedAt, finishing: settling }: Checkpoint, now: number): boolean {
  return settling === true || now - Date.parse(startedAt) < CHECKPOINT_LIFE_MS;
}

/** What an interrupted sweep had in memory. */
export async function recollect(
  store: SweepStore,
  list: ListName,
  { pages, parts = 0 }: Checkpoint,
): Promise<SweepMemory> {
  const [schema, held, strays] = await Promise.all([
    store.schema(list),
    store.quarantinedKeys(list),
    store.members(list, STRAYS),
  ]);
  const seen = new Set<string>();
  const partly = new Set<string>();
  if (pages > 0 || parts > 0) {
    const { before, changed } = await store.membership(list);
    for (let page = 1; page <= pages; page++) {
      for (const key of changed.get(page) ?? before.get(page) ?? []) seen.add(key);
    }
    for (let part = 1; part <= parts; part++) {
      for (const key of changed.get(placeOfPart(part)) ?? []) partly.add(key);
    }
    for (const key of partly) seen.add(key);
  }
  const tracked = new TrackedFields(schema);
  return { schema, tracked, seen, partly, held: new Set(held), strays: strays !== null };
}
