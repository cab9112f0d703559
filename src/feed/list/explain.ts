/** Collects what `changefeed explain` shows of one record: what is stored, and the last decisions. Reads only. */
import type { Gone, Decision } from '../detect/stored-record.js';
import { UNCONFIRMED, type Missing } from '../detect/removal.js';
import type { Rules } from '../detect/rules.js';
import type { ListName } from '../../crm/lists/lists.js';
import type { SerialisedRecord, SweepSummary } from '../store/sweep-state.js';
import type { SweepStore } from '../store/sweep-store.js';

/** The story of a record, and why it did or did not yield events. */
export interface RecordStory {
  list: ListName;
  id: string;
  /** False: no sweep has seen it. */
  known: boolean;
  /** It was erased, and is left out. */
  erased: boolean;
  /** Number of its last event; 0 before the first. */
  sequence: number;
  /** The whole image, or nothing because it is gone; in a list of which only keys are stored, its key. */
  kept: 'image' | 'only its key' | 'nothing';
  /** Its page in the last complete sweep; null when it was on none. */
  page: number | null;
  /** Missing in the last complete sweep: how often so far, and since when. */
  missing: Missing | null;
  /** Since when the list shows it no more; null while it does. */
  gone: Gone | null;
  /** ISO 8601: since when it is no longer in the list without an event, because a person discarded its held removal; null otherwise. */
  discarded: string | null;
  /** Its fields that are compared, and below those that are not, with the rule. Empty without an image. */
  compared: string[];
  /** Fields of which a rule leaves out the changes. */
  leftOut: { field: string; rule: string }[];
  /** The last decisions, oldest first. Empty for a record that has never changed. */
  decisions: readonly Decision[];
  /** The last complete sweep of its list. */
  lastSweep: Pick<SweepSummary, 'sweepId' | 'completedAt'> | null;
}

export async function explainRecord(
  store: SweepStore,
  { list, id, rules }: { list: ListName; id: string; rules: Rules },
): Promise<RecordStory> {
  const [[state = null], [isRecognised = false], membership, { state: listState }, isErased] = await Promise.all([
    store.records(list, [id]),
    store.recognised(list, [id]),
    store.membership(list),
    store.load(list),
    store.erased(list),
  ]);
  const [page = null] = [...membership.before].find(([at, keys]) => at !== UNCONFIRMED && keys.includes(id)) ?? [];
  const fields = fieldsOf(state);
  const { lastSweep } = listState;
  return {
    list,
    id,
    known: state !== null || isRecognised,
    erased: isErased(id),
    sequence: state?.sequence ?? 0,
    kept: isRecognised ? 'only its key' : keptOf(state),
    page,
    missing: membership.missing.get(id) ?? null,
    gone: state?.gone ?? null,
    discarded: state?.discarded ?? null,
    compared: fields.filter((field) => rules.compares(field)),
    leftOut: fields.flatMap((field) => {
      const rule = rules.mutedBy(field);
      return rule === null ? [] : [{ field, rule }];
    }),
    decisions: state?.decisions ?? [],
    lastSweep: lastSweep === null ? null : { sweepId: lastSweep.sweepId, completedAt: lastSweep.completedAt },
  };
}

function keptOf(state: SerialisedRecord | null): RecordStory['kept'] {
  if (state === null || state.gone !== undefined) return 'nothing';
  return state.image === null ? 'nothing' : 'image';
}

function fieldsOf(state: SerialisedRecord | null): string[] {
  if (state === null || state.image === null) return [];
  return Object.keys(JSON.parse(state.image) as object)
    .map((name) => name.normalize('NFC'))
    .sort();
}
