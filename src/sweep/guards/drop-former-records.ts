/**
 * After a baseline of another source, drops the records that the new source does not show. They yield no events, because nothing
 * was removed. Their sequences stay, so that an id that is seen again continues counting.
 */
import { GONE, droppedRecord } from '../../detect/removal.js';
import { addToDelta, type SchemaDelta } from '../../detect/schema-drift/schema.js';
import { NO_TIMERS } from '../../detect/watch-todo.js';
import { isoTime } from '../../runtime/clock.js';
import { parseStored, serialised, talliedValueTypes } from '../records.js';
import { expectCommitted } from '../errors.js';
import { readMembershipChange, type FinishedRemovals } from './finish-removals.js';
import type { FinishStep, SweepDeps, SweepOptions } from '../options.js';
import type { RecordWrite } from '../store.js';

const RECORDS_PER_STEP = 100;

export async function dropFormerRecords(
  { store, clock, log, workspace }: SweepDeps,
  { list, rules }: SweepOptions,
  { checkpoint, token, tracked }: FinishStep,
): Promise<FinishedRemovals> {
  const { membership, left, pages } = await readMembershipChange(store, list, checkpoint.pages);
  const { changed, missing } = membership;
  const present = new Set([...changed.values()].flat());
  const former = new Set([...left, ...missing.keys()].filter((key) => !present.has(key)));
  const entries = [...new Set([...former, ...missing.keys()])];
  const at = isoTime(clock.now());
  let dropped = 0;
  for (let from = 0; from < entries.length; from += RECORDS_PER_STEP) {
    const chunk = entries.slice(from, from + RECORDS_PER_STEP);
    const states = await store.records(list, chunk);
    const schema: SchemaDelta = new Map();
    const writes = chunk.flatMap((key, index): RecordWrite[] => {
      const stored = parseStored(states[index] ?? null);
      if (!former.has(key) || stored === null || stored.gone !== undefined) return [];
      addToDelta(schema, talliedValueTypes(stored, rules), null, tracked);
      const timers = rules.watch === null ? [] : NO_TIMERS;
      const state = serialised(droppedRecord(stored, at), { digest: GONE, image: null });
      return [{ key, state, event: null, timers }];
    });
    dropped += writes.length;
    const entriesOut = chunk.map((key) => [key, null] as const);
    expectCommitted(list, await store.commit(list, { token, checkpoint, writes, missing: entriesOut, schema }));
  }
  log.info(
    { workspace, list, dropped, sweepId: checkpoint.sweepId },
    'baseline of a new source: former records dropped',
  );
  return { checkpoint, held: null, pages };
}
