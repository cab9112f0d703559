/**
 * Takes records out of quarantine once their fields are decided. What the schema changed is stored without an event; what a
 * record changed on its own becomes its event. The states of a field are described in `detect/schema-drift/drift.ts`.
 */
import type { UncheckedRecord } from '../crm/record.js';
import { detect } from '../detect/detect.js';
import { recordDigest } from '../detect/digest.js';
import { withoutFields } from '../detect/rules.js';
import { fieldsFollowingDrift, transitions } from '../detect/schema-drift/drift.js';
import { addToDelta, type SchemaDelta } from '../detect/schema-drift/schema.js';
import { isSchemaChangeUndone, storedValueTypes, valueTypesOf } from '../detect/stored-record.js';
import { detectInput, parseStored, recordWrite, talliedValueTypes } from './classify-record.js';
import { mutedOnce, type CountedKind } from './counts.js';
import { expectCommitted } from './errors.js';
import { observationOf, type FinishStep, type SweepDeps, type SweepOptions } from './options.js';
import type { Checkpoint, Step, RecordWrite, SerialisedRecord, SweepCounts } from './store.js';

const RECORDS_PER_STEP = 100;

/** Returns the checkpoint with the counts as if the records had never been in quarantine. */
export async function releaseQuarantine(deps: SweepDeps, options: SweepOptions, step: FinishStep): Promise<Checkpoint> {
  const { store } = deps;
  const { list } = options;
  const { token } = step;
  const keys = await store.quarantinedKeys(list);
  let { checkpoint } = step;
  // With `takesOver`, they belong to another source: nothing of them is reported or stored.
  for (let at = 0; at < keys.length; at += RECORDS_PER_STEP) {
    const chunk = keys.slice(at, at + RECORDS_PER_STEP);
    if (checkpoint.takesOver === true) {
      const commit: Step = { token, checkpoint, writes: [], release: chunk };
      expectCommitted(list, await store.commit(list, commit));
      continue;
    }
    const [states, texts] = await Promise.all([store.records(list, chunk), store.quarantined(list, chunk)]);
    const released = chunk.flatMap((key, index) =>
      release({ key, text: texts[index] ?? null, state: states[index] ?? null }, deps, options, {
        ...step,
        checkpoint,
      }),
    );
    const { commit, reached } = together(released, checkpoint);
    expectCommitted(list, await store.commit(list, { token, checkpoint: reached, ...commit }));
    checkpoint = reached;
  }
  return checkpoint;
}

interface Released {
  key: string;
  kind: CountedKind;
  write: RecordWrite | null;
  mutedBy: string | undefined;
  schema: SchemaDelta;
}

function release(
  { key, text, state }: { key: string; text: string | null; state: SerialisedRecord | null },
  deps: SweepDeps,
  options: SweepOptions,
  { checkpoint, lastSweep, tracked }: FinishStep,
): Released[] {
  const { rules, images = true } = options;
  if (text === null) return [];
  const { drifted = [] } = checkpoint.decided ?? {};
  const undecided = new Set(checkpoint.decided?.undecided);
  const record = JSON.parse(text) as UncheckedRecord;
  const stored = parseStored(state);
  const types = valueTypesOf(record, rules);
  const moved = stored === null ? [] : transitions(storedValueTypes(stored, rules), types);
  // The schema may have changed in mid-sweep. The record stays in quarantine for one more sweep.
  if (moved.some(({ field }) => undecided.has(field))) return [];

  const silent = new Set(fieldsFollowingDrift(moved, [...drifted, ...(lastSweep?.drifted ?? [])]));
  // The record is again as it was before the drift. A key that comes back with values on few rows must not look like an edit of these rows.
  if (stored !== null && isSchemaChangeUndone(stored, record, rules))
    for (const { field } of drifted) silent.add(field);
  const observation = observationOf(deps, options, { checkpoint, lastSweep });
  const seen = { key, record, digest: recordDigest(text) };
  const input = detectInput(seen, stored, { baseline: null, rules, observation, images });
  const detection = detect({ ...input, rules: withoutFields(rules, silent) });
  const schema: SchemaDelta = new Map();
  if (detection.kind !== 'stale') addToDelta(schema, talliedValueTypes(stored, rules), types, tracked);
  const mutedBy = 'mutedBy' in detection ? detection.mutedBy : undefined;
  return [{ key, kind: detection.kind, write: recordWrite(seen, state, input, detection), mutedBy, schema }];
}

function together(
  released: readonly Released[],
  checkpoint: Checkpoint,
): { commit: Pick<Step, 'writes' | 'release' | 'schema'>; reached: Checkpoint } {
  const schema: SchemaDelta = new Map();
  let { counts, muted = {} } = checkpoint;
  for (const one of released) {
    for (const [name, by] of one.schema) schema.set(name, (schema.get(name) ?? 0) + by);
    counts = countedAs(counts, one.kind);
    if (one.mutedBy !== undefined) muted = mutedOnce(muted, one.mutedBy);
  }
  return {
    commit: {
      writes: released.flatMap(({ write }) => (write === null ? [] : [write])),
      release: released.map(({ key }) => key),
      schema,
    },
    reached: { ...checkpoint, counts, muted },
  };
}

/** A released record counts as what it was classified as. Records quarantined by the sweep before are not in these counts. */
function countedAs(counts: SweepCounts, kind: CountedKind): SweepCounts {
  return { ...counts, quarantined: Math.max(0, counts.quarantined - 1), [kind]: counts[kind] + 1 };
}
