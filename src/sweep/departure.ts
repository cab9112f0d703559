/** Where a sweep starts: where an interrupted one stood, if that is not too long ago, with what that one knew. */
import { createTrail, type Trail } from '../api/trail.js';
import { noDrift } from '../detect/drift.js';
import { STRAYS } from '../detect/removal.js';
import type { ListName } from '../events/lists.js';
import { isoTime } from '../runtime/clock.js';
import { noCounts } from './counts.js';
import type { SweepMemory } from './judging.js';
import type { SweepDeps } from './options.js';
import { unfenced } from './settling.js';
import type { Checkpoint, FencingToken, StoredSweep, SweepStore } from './store.js';

/** A checkpoint older than this is not resumed: its cursors may be dead, and its first half shows another day. */
const CHECKPOINT_LIFE_MS = 3_600_000;

export async function departure(
  { store, clock, log }: SweepDeps,
  list: ListName,
  token: FencingToken,
  { checkpoint, cursors, cutOff, state }: StoredSweep,
): Promise<{ checkpoint: Checkpoint; trail: Trail }> {
  const now = clock.now();
  if (checkpoint !== null && isAlive(checkpoint, now)) {
    log.info({ list, pages: checkpoint.pages, sweep: checkpoint.sweepId }, 'sweep resumed');
    return { checkpoint, trail: createTrail({ firstPage: checkpoint.firstPage, cursors }) };
  }
  if (checkpoint !== null || cutOff) unfenced(list, await store.abandon(list, token));
  const fresh: Checkpoint = {
    sweepId: `${list}-${token}-${now.toString(36)}`,
    startedAt: isoTime(now),
    mode: state.baselineAt === null ? 'baseline' : 'changes',
    cursor: null,
    pages: 0,
    counts: noCounts(),
    firstPage: null,
    drift: noDrift(state.lastSweep ?? {}),
  };
  return { checkpoint: fresh, trail: createTrail({ firstPage: null, cursors: [] }) };
}

/** What is left of a sweep that saw every page needs no cursor: it is finished however old it is. */
function isAlive({ startedAt, settling }: Checkpoint, now: number): boolean {
  return settling === true || now - Date.parse(startedAt) < CHECKPOINT_LIFE_MS;
}

/** What an interrupted sweep had in memory. */
export async function recollect(store: SweepStore, list: ListName, { pages }: Checkpoint): Promise<SweepMemory> {
  const [schema, held, strays] = await Promise.all([
    store.schema(list),
    store.heldKeys(list),
    store.members(list, STRAYS),
  ]);
  const seen = new Set<string>();
  if (pages > 0) {
    const { before, changed } = await store.membership(list);
    for (let page = 1; page <= pages; page++) {
      for (const key of changed.get(page) ?? before.get(page) ?? []) seen.add(key);
    }
  }
  return { schema, seen, held: new Set(held), strays: strays !== null };
}
