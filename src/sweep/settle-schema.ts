/** Says once what changed in the schema, and keeps the decision with the checkpoint, so that it is made once. */
import { movesOfSchema, pastAfter, type DriftDecision } from '../detect/drift.js';
import { schemaEvent } from '../detect/schema-event.js';
import { observationOf } from './observation.js';
import type { SweepDeps, SweepOptions } from './options.js';
import { unfenced, type Settling } from './settling.js';
import type { Checkpoint } from './store.js';

export async function settleSchema(
  deps: SweepDeps,
  options: SweepOptions,
  { checkpoint, token, lastSweep, decision }: Settling & { decision: DriftDecision },
): Promise<Checkpoint> {
  const { store, workspace, log } = deps;
  const { list, rules } = options;
  if (checkpoint.decided !== undefined) return checkpoint;
  const drifted = rules.collapse ? decision.drifted : [];
  const seen = new Map(Object.entries(checkpoint.drift?.fields ?? {}));
  const moved = drifted.flatMap(({ field }) => {
    const one = seen.get(field);
    return one === undefined ? [] : [{ field, moves: movesOfSchema(one) }];
  });
  const past = pastAfter(lastSweep?.drifted ?? [], moved);
  const decided = {
    ...checkpoint,
    decided: {
      drifted: past.slice(past.length - moved.length),
      past,
      undecided: decision.undecided,
      begun: decision.begun,
    },
  };
  if (drifted.length === 0) return decided;

  const fields = drifted.map(({ field }) => field);
  const told = await store.schemaSequences(list, fields);
  const sequences = told.map((sequence) => sequence + 1);
  const observation = observationOf(deps, options, { checkpoint, lastSweep });
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
