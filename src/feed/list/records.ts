/** Rows of a page next to what is stored. Where their bytes have the stored digest, nothing is parsed or loaded. */
import { hash } from 'node:crypto';
import type { ListName } from '../../crm/lists/lists.js';
import type { UncheckedRecord } from '../../crm/record.js';
import type { Page } from '../api/read-api.js';
import { rowsOf, type PageRow } from '../api/rows.js';
import { recordKey } from '../detect/identity.js';
import type { Rules } from '../detect/rules.js';
import type { StoredRecord } from '../detect/stored-record.js';
import type { SweepStore } from '../store/sweep-store.js';
import type { SerialisedRecord } from '../store/sweep-state.js';

export interface SeenRecord {
  key: string;
  /** Parsed when it is asked for. */
  readonly record: UncheckedRecord;
  digest: string;
  storedDigest: string | null;
}

export interface DifferingRecord extends SeenRecord {
  state: SerialisedRecord | null;
  stored: StoredRecord | null;
}

/** The records of a page, each once: one that stands twice on a page counts with its first copy. */
export async function readSeen(store: SweepStore, page: Page, rules: Rules): Promise<SeenRecord[]> {
  const byKey = keyed(rowsOf(page), rules);
  const [list, keys] = [rules.list.name, [...byKey.keys()]];
  const recognised = rules.recognisedOnly ? await store.recognised(list, keys) : [];
  const digests = rules.recognisedOnly ? [] : await store.digests(list, keys);
  return [...byKey].map(([key, row], index) => {
    const digest = digestOfRow(row, rules);
    const storedDigest = recognised[index] === true ? digest : (digests[index] ?? null);
    return {
      ...{ key, digest, storedDigest },
      get record() {
        return row.record;
      },
    };
  });
}

/**
 * 64 bits: like a page's digest, it is compared with one earlier digest only. Without images it depends on the rules:
 * under others, the content digest is made again.
 */
export function digestOfRow({ bytes }: PageRow, { images, tag }: Rules): string {
  return hash('sha256', images ? bytes : Buffer.concat([Buffer.from(tag), bytes]), 'hex').slice(0, 16);
}

function keyed(rows: readonly PageRow[], rules: Rules): Map<string, PageRow> {
  const occurrences = new Map<string, number>();
  const occurrence = (key: string): number => {
    const count = (occurrences.get(key) ?? 0) + 1;
    occurrences.set(key, count);
    return count;
  };
  const byKey = new Map<string, PageRow>();
  for (const row of rows) {
    const key = recordKey(row, rules, occurrence);
    if (!byKey.has(key)) byKey.set(key, row);
  }
  return byKey;
}

export async function readDiffering(
  store: SweepStore,
  list: ListName,
  seen: readonly SeenRecord[],
): Promise<DifferingRecord[]> {
  const differing = seen.filter(({ digest, storedDigest }) => digest !== storedDigest);
  const keys = differing.map(({ key }) => key);
  const states = await store.records(list, keys);
  return differing.map((one, index) => {
    const state = states[index] ?? null;
    return { ...one, state, stored: parseStored(state) };
  });
}

export function parseStored(state: SerialisedRecord): StoredRecord;
export function parseStored(state: SerialisedRecord | null): StoredRecord | null;
export function parseStored(state: SerialisedRecord | null): StoredRecord | null {
  if (state === null) return null;
  const { digest: _, image, ...rest } = state;
  return { ...rest, record: image === null ? null : (JSON.parse(image) as UncheckedRecord) };
}

export function serialised(
  { record: _, ...rest }: StoredRecord,
  { digest, image }: { digest: string; image: string | null },
): SerialisedRecord {
  return { ...rest, digest, image };
}
