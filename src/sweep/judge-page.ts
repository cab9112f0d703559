/**
 * One page against what is remembered: which records differ, and what is to be written for them. Cheap first: a record
 * whose text hashes as before costs one digest and its share of one read; only the others are loaded and compared.
 */
import { detect, type Baseline, type Observation } from '../detect/detect.js';
import { digestOf } from '../detect/digest.js';
import { recordKey } from '../detect/identity.js';
import type { Rules } from '../detect/rules.js';
import type { RawRecord } from '../api/read-api.js';
import { counted } from './counts.js';
import type { RecordState, RecordWrite, SweepCounts, SweepStore } from './store.js';

export interface JudgeOptions {
  records: readonly RawRecord[];
  counts: SweepCounts;
  rules: Rules;
  baseline: Baseline | null;
  observation: Observation;
}

/** What a page changes, and the sweep's counts after it. */
export interface Judgement {
  writes: RecordWrite[];
  counts: SweepCounts;
}

interface Seen {
  key: string;
  record: RawRecord;
  text: string;
  digest: string;
}

export async function judgePage(
  store: Pick<SweepStore, 'digests' | 'records'>,
  { records, counts, rules, baseline, observation }: JudgeOptions,
): Promise<Judgement> {
  const seen = seenRecords(records, rules);
  const digests = await store.digests(
    rules.list,
    seen.map(({ key }) => key),
  );
  const differing = seen.filter(({ digest }, index) => digests[index] !== digest);
  const known = await store.records(
    rules.list,
    differing.map(({ key }) => key),
  );

  let tally = counts;
  for (let same = seen.length - differing.length; same > 0; same--) tally = counted(tally, 'unchanged');
  const writes = differing.map(({ key, record, text, digest }, index): RecordWrite => {
    const detection = detect({ key, record, known: rememberedRecord(known[index]), baseline, rules, observation });
    tally = counted(tally, detection.kind);
    return { key, state: { digest, sequence: detection.sequence, image: text }, event: detection.event };
  });
  return { writes, counts: tally };
}

/** A record that stands twice on one page counts once: its first copy. */
function seenRecords(records: readonly RawRecord[], rules: Rules): Seen[] {
  const byKey = new Map<string, Seen>();
  for (const record of records) {
    const key = recordKey(record, rules);
    if (byKey.has(key)) continue;
    const text = JSON.stringify(record);
    byKey.set(key, { key, record, text, digest: digestOf(text) });
  }
  return [...byKey.values()];
}

function rememberedRecord(state: RecordState | null | undefined): { sequence: number; record: RawRecord } | null {
  if (state === null || state === undefined) return null;
  return { sequence: state.sequence, record: JSON.parse(state.image) as RawRecord };
}
