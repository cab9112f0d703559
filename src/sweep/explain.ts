/** One record's story: what is remembered of it, where it stands, and the last decisions about it. Only looks. */
import type { Gone, Doubt, Decision } from '../detect/known.js';
import { STRAYS, type Missing } from '../detect/removal.js';
import type { Rules } from '../detect/rules.js';
import type { ListName } from '../events/lists.js';
import type { SweepStore, SweepSummary } from './store.js';

export interface RecordStory {
  list: ListName;
  id: string;
  /** False: no sweep has shown it. */
  known: boolean;
  /** Events so far. */
  sequence: number;
  /** What is kept of it: the whole image, digests of its fields, or nothing because it is gone. */
  kept: 'image' | 'digests' | 'nothing';
  /** The page it stood on in the last complete sweep; null when on none. */
  page: number | null;
  /** Not shown by the last complete sweep: how often so far, since when. */
  missing: Missing | null;
  gone: Gone | null;
  /** It was shown as it used to be: the next sweep decides. */
  doubt: Doubt | null;
  /** Waits for what its list's schema turns out to be. */
  quarantined: boolean;
  /** Its fields under the rules: which are compared, which are not and by which rule. */
  compared: string[];
  leftOut: { field: string; rule: string }[];
  /** The last decisions, the oldest first. Empty for a record that has only ever been the same. */
  decisions: readonly Decision[];
  lastSweep: Pick<SweepSummary, 'sweepId' | 'completedAt'> | null;
}

export async function explainRecord(
  store: Pick<SweepStore, 'records' | 'membership' | 'quarantinedKeys' | 'load'>,
  { list, id, rules }: { list: ListName; id: string; rules: Rules },
): Promise<RecordStory> {
  const [[state = null], membership, held, { state: listState }] = await Promise.all([
    store.records(list, [id]),
    store.membership(list),
    store.quarantinedKeys(list),
    store.load(list),
  ]);
  const [page = null] = [...membership.before].find(([at, keys]) => at !== STRAYS && keys.includes(id)) ?? [];
  const fields = fieldsOf(state);
  const { lastSweep } = listState;
  return {
    list,
    id,
    known: state !== null,
    sequence: state?.sequence ?? 0,
    kept: state === null || state.gone !== undefined ? 'nothing' : state.image === null ? 'digests' : 'image',
    page,
    missing: membership.missing.get(id) ?? null,
    gone: state?.gone ?? null,
    doubt: state?.doubt ?? null,
    quarantined: held.includes(id),
    compared: fields.filter((field) => rules.compares(field)),
    leftOut: fields.flatMap((field) => {
      const rule = rules.mutedBy(field);
      return rule === null ? [] : [{ field, rule }];
    }),
    decisions: state?.decisions ?? [],
    lastSweep: lastSweep === null ? null : { sweepId: lastSweep.sweepId, completedAt: lastSweep.completedAt },
  };
}

function fieldsOf(state: Awaited<ReturnType<SweepStore['records']>>[number]): string[] {
  if (state === null) return [];
  if (state.image === null) return Object.keys(state.fields ?? {}).sort();
  return Object.keys(JSON.parse(state.image) as object)
    .map((name) => name.normalize('NFC'))
    .sort();
}
