/** Lets go of the records that waited: what the schema did to them is silent now, what is their own becomes their event. */
import type { UncheckedRecord } from '../crm/record.js';
import { detect } from '../detect/detect.js';
import { digestOf } from '../detect/digest.js';
import { followers, transitions } from '../detect/drift.js';
import { storedValueTypes, valueTypesOf, isSchemaUndone } from '../detect/known.js';
import { withoutFields } from '../detect/rules.js';
import { addToDelta, type SchemaDelta } from '../detect/schema.js';
import { mutedOnce, type CountedKind } from './counts.js';
import { countedForms, inputOf, knownRecord, writeOf } from './judge-record.js';
import { observationOf } from './observation.js';
import type { SweepDeps, SweepOptions } from './options.js';
import { unfenced, type Settling } from './settling.js';
import type { Checkpoint, PageCommit, SweptRecordState, RecordWrite, SweepCounts } from './store.js';

const RECORDS_PER_STEP = 100;

/** The checkpoint afterwards, with its counts as if nothing had waited. */
export async function settleHeld(deps: SweepDeps, options: SweepOptions, waiting: Settling): Promise<Checkpoint> {
  const { store } = deps;
  const { list } = options;
  const keys = await store.quarantinedKeys(list);
  let { checkpoint } = waiting;
  // They belong to another source: what became of them there is no change of this one.
  if (checkpoint.takesOver === true && keys.length > 0) {
    const { token } = waiting;
    const commit = { token, checkpoint, summary: null, writes: [], release: keys };
    unfenced(list, await store.commitPage(list, commit));
    return checkpoint;
  }
  for (let at = 0; at < keys.length; at += RECORDS_PER_STEP) {
    const chunk = keys.slice(at, at + RECORDS_PER_STEP);
    const [states, texts] = await Promise.all([store.records(list, chunk), store.quarantined(list, chunk)]);
    const released = chunk.flatMap((key, index) =>
      release({ key, text: texts[index] ?? null, state: states[index] ?? null }, deps, options, {
        ...waiting,
        checkpoint,
      }),
    );
    const { commit, reached } = together(released, checkpoint);
    const step = {
      token: waiting.token,
      checkpoint: reached,
      summary: null,
      ...commit,
    };
    unfenced(list, await store.commitPage(list, step));
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
  { key, text, state }: { key: string; text: string | null; state: SweptRecordState | null },
  deps: SweepDeps,
  options: SweepOptions,
  { checkpoint, lastSweep, tracked }: Settling,
): Released[] {
  const { rules, images = true } = options;
  if (text === null) return [];
  const { drifted = [] } = checkpoint.decided ?? {};
  const undecided = new Set(checkpoint.decided?.undecided);
  const record = JSON.parse(text) as UncheckedRecord;
  const known = state === null ? null : knownRecord(state);
  const forms = valueTypesOf(record, rules);
  const moved = known === null ? [] : transitions(storedValueTypes(known, rules), forms);
  // May be in the middle of a change of the schema: waits for one more sweep.
  if (moved.some(({ field }) => undecided.has(field))) return [];

  const quiet = new Set(followers(moved, [...drifted, ...(lastSweep?.drifted ?? [])]));
  // Where a key comes back that says something on few rows only, these look edited.
  if (known !== null && isSchemaUndone(known, record, rules)) for (const { field } of drifted) quiet.add(field);
  const observation = observationOf(deps, options, { checkpoint, lastSweep });
  const seen = { key, record, text, digest: digestOf(text) };
  const input = inputOf(seen, known, { baseline: null, rules, observation, images });
  const detection = detect({ ...input, rules: withoutFields(rules, quiet) });
  const schema: SchemaDelta = new Map();
  if (detection.kind !== 'stale') addToDelta(schema, countedForms(state, known, rules), forms, tracked);
  const mutedBy = 'mutedBy' in detection ? detection.mutedBy : undefined;
  return [{ key, kind: detection.kind, write: writeOf(seen, state, input, detection), mutedBy, schema }];
}

function together(
  released: readonly Released[],
  checkpoint: Checkpoint,
): { commit: Pick<PageCommit, 'writes' | 'release' | 'schema'>; reached: Checkpoint } {
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

/** One that waited counts as what it turned out to be. One that waited since the sweep before was not counted in this one. */
function countedAs(counts: SweepCounts, kind: CountedKind): SweepCounts {
  return { ...counts, quarantined: Math.max(0, counts.quarantined - 1), [kind]: counts[kind] + 1 };
}
