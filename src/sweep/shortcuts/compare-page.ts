/**
 * Compares a page that was read outside the order of a walk with the stored records, and asks whether it may be old: an answer of a
 * lagging replica, or of a cursor that belongs to an old snapshot.
 */
import type { Page } from '../../api/read-api.js';
import type { ListName } from '../../crm/lists/lists.js';
import { ageOf } from '../../detect/age.js';
import { creationTimeOf, modifiedAtOf } from '../../detect/fields.js';
import { isPresent } from '../../detect/removal.js';
import type { Rules } from '../../detect/rules.js';
import { storedModifiedAt } from '../../detect/stored-record.js';
import { ChangefeedError } from '../../errors.js';
import { seenRecords } from '../classify-page.js';
import { parseStored, type SeenRecord } from '../classify-record.js';
import { CURSOR_LIFE_MS } from '../start-sweep.js';
import type { SerialisedRecord, SweepStore } from '../store.js';

/** Null: a record without an id. The walk reports it. */
export function readRecords({ records }: Page, rules: Rules): SeenRecord[] | null {
  try {
    return seenRecords(records, rules);
  } catch (error) {
    if (error instanceof ChangefeedError && error.code === 'CF_PAGE_MALFORMED') return null;
    throw error;
  }
}

/** A record that differs from its stored record. */
export interface Differing extends SeenRecord {
  stored: SerialisedRecord | null;
  /** No stored record, or a deleted one. */
  isNew: boolean;
}

export interface ComparedPage {
  differing: readonly Differing[];
  /** The members of the page in the last complete sweep. */
  members: ReadonlySet<string>;
}

export async function comparePage(
  store: Pick<SweepStore, 'digests' | 'records' | 'members'>,
  list: ListName,
  { seen, page }: { seen: readonly SeenRecord[]; page: number },
): Promise<ComparedPage> {
  const digests = await store.digests(
    list,
    seen.map(({ key }) => key),
  );
  const found = seen.flatMap((one, index) => {
    const stored = digests[index] ?? null;
    return stored === one.digest ? [] : [{ ...one, isNew: !isPresent(stored) }];
  });
  if (found.length === 0) return { differing: [], members: new Set() };
  const [states, members] = await Promise.all([
    store.records(
      list,
      found.map(({ key }) => key),
    ),
    store.members(list, page),
  ]);
  const differing = found.map((one, index) => ({ ...one, stored: states[index] ?? null }));
  return { differing, members: new Set(members) };
}

/** One older record makes the whole page doubtful: it comes from a lagging replica, or the cursor belongs to an old snapshot. */
export function whyDoubtful(
  differing: readonly Differing[],
  rules: Rules,
  { askedAtMs, overtaken }: { askedAtMs: number; overtaken?: ReadonlySet<string> | undefined },
): 'lagging' | 'overtaken' | null {
  for (const { key, record, stored } of differing) {
    if (overtaken?.has(key) === true) return 'overtaken';
    if (stored === null) continue;
    const known = parseStored(stored);
    if (ageOf(modifiedAtOf(record, rules.list), storedModifiedAt(known, rules.list)) === 'older') return 'lagging';
    if (Date.parse(known.decisions?.at(-1)?.at ?? '') >= askedAtMs) return 'overtaken';
  }
  return null;
}

/** A record that was never stored counts: it existed, whenever the answer was made. */
export function isCertainlyNewer({ record, stored }: Differing, { list }: Rules): boolean {
  return stored === null || ageOf(modifiedAtOf(record, list), storedModifiedAt(parseStored(stored), list)) === 'newer';
}

/** The clock of the server may differ from ours by this much. */
const CLOCKS_APART_MS = 60_000;

/** A change so recent that no page which a kept cursor shows as it was can have it. */
export function showsRecentChange(seen: readonly SeenRecord[], { list }: Rules, askedAtMs: number): boolean {
  const times = seen.flatMap(({ record }) => [modifiedAtOf(record, list), creationTimeOf(record, list)]);
  const changedMs = times.map((time) => Date.parse(time ?? ''));
  return changedMs.some((ms) => ms > askedAtMs - CURSOR_LIFE_MS + CLOCKS_APART_MS && ms < askedAtMs + CLOCKS_APART_MS);
}
