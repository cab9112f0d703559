/**
 * A baseline has replaced the records of another source: those it does not show are dropped without an event. They are not
 * removals, for nothing happened to them. Their sequences stay, so that an id which comes back goes on counting.
 */
import { droppedRecord } from '../detect/remember.js';
import { STRAYS, vanished } from '../detect/removal.js';
import { addToDelta, type SchemaDelta } from '../detect/schema.js';
import { NO_TIMERS } from '../detect/watch.js';
import { isoTime } from '../runtime/clock.js';
import { countedForms, knownRecord } from './judge-record.js';
import type { SweepDeps, SweepOptions } from './options.js';
import type { SettledRemovals } from './settle-removals.js';
import { unfenced, type Settling } from './settling.js';
import { GONE, type RecordWrite } from './store.js';

const RECORDS_PER_STEP = 100;

export async function dropFormer(
  { store, clock, log, workspace }: SweepDeps,
  { list, rules }: SweepOptions,
  { checkpoint, token, tracked }: Settling,
): Promise<SettledRemovals> {
  const { before, changed, missing } = await store.membership(list);
  const { pages } = checkpoint;
  const present = new Set([...changed.values()].flat());
  const former = new Set(
    [...vanished({ before, changed, pages }), ...missing.keys()].filter((key) => !present.has(key)),
  );
  const entries = [...new Set([...former, ...missing.keys()])];
  const at = isoTime(clock.now());
  let dropped = 0;
  for (let from = 0; from < entries.length; from += RECORDS_PER_STEP) {
    const chunk = entries.slice(from, from + RECORDS_PER_STEP);
    const states = await store.records(list, chunk);
    const schema: SchemaDelta = new Map();
    const writes = chunk.flatMap((key, index): RecordWrite[] => {
      const state = states[index] ?? null;
      if (!former.has(key) || state === null || state.gone !== undefined) return [];
      const known = knownRecord(state);
      addToDelta(schema, countedForms(state, known, rules), null, tracked);
      const { record: _, ...memory } = droppedRecord(known, at);
      const timers = rules.watch === null ? [] : NO_TIMERS;
      return [{ key, state: { ...memory, digest: GONE, image: null }, event: null, timers }];
    });
    dropped += writes.length;
    const entriesOut = chunk.map((key) => [key, null] as const);
    unfenced(list, await store.commitRemovals(list, { token, checkpoint, writes, missing: entriesOut, schema }));
  }
  log.info({ workspace, list, dropped, sweep: checkpoint.sweepId }, 'baseline of a new source: former records dropped');
  return {
    checkpoint,
    held: null,
    promote: [...changed.keys()],
    drop: [...before.keys()].filter((page) => page > pages || page === STRAYS),
  };
}
