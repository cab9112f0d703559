/** Says once what changed in the schema, and keeps the decision with the checkpoint, so that it is made once. */
import { pastAfter, type DriftDecision } from '../detect/drift.js';
import { schemaEvent } from '../detect/schema-event.js';
import { isoTime } from '../runtime/clock.js';
import type { SweepDeps, SweepOptions } from './options.js';
import { unfenced, type Settling } from './settling.js';
import type { Checkpoint } from './store.js';

export async function settleSchema(
  { store, workspace, clock, log }: SweepDeps,
  { list, rules }: SweepOptions,
  { checkpoint, token, lastSweep, decision }: Settling & { decision: DriftDecision },
): Promise<Checkpoint> {
  if (checkpoint.decided !== undefined) return checkpoint;
  const drifted = rules.collapse ? decision.drifted : [];
  const moved = drifted.map(({ field }) => ({
    field,
    from: Object.keys(checkpoint.drift?.fields[field]?.from ?? {}),
  }));
  const past = pastAfter(lastSweep?.drifted ?? [], moved);
  const decided = {
    ...checkpoint,
    decided: { drifted: past.slice(past.length - moved.length), past, undecided: decision.undecided },
  };
  if (drifted.length === 0) return decided;

  const fields = drifted.map(({ field }) => field);
  const told = await store.schemaSequences(list, fields);
  const sequences = told.map((sequence) => sequence + 1);
  const observation = {
    workspace,
    sweep: checkpoint.sweepId,
    previousSweep: lastSweep?.sweepId ?? null,
    observedAt: isoTime(clock.now()),
  };
  const events = drifted.map((change, index) =>
    schemaEvent(change, { rules, observation, sequence: sequences[index] ?? 1 }),
  );
  const commit = {
    token,
    checkpoint: decided,
    summary: null,
    writes: [],
    events,
    schemaSequences: fields.map((field, index) => [field, sequences[index] ?? 1] as const),
  };
  unfenced(list, await store.commitPage(list, commit));
  log.warn({ workspace, list, fields: fields.length, sweep: checkpoint.sweepId }, 'schema changed');
  return decided;
}
