/** Rows of a page next to what is stored, masked. Where their bytes have the stored digest, nothing is parsed or loaded. */
import { hash } from 'node:crypto';
import type { UncheckedRecord } from '../../crm/record.js';
import type { Page } from '../api/read-api.js';
import { rowsOf, type PageRow } from '../api/rows.js';
import { recordKey } from '../detect/identity.js';
import { isStored } from '../detect/record-state.js';
import type { Rules } from '../detect/rules.js';
import type { Transition } from '../detect/schema-drift/schema.js';
import { movesSince, type StoredRecord } from '../detect/stored-record.js';
import type { FeedList } from './list.js';
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
  /** The fields whose value types differ from the stored ones; all fields of a new record. Found when they are asked for. */
  readonly moves: readonly Transition[];
}

/** The records of a page, each once: one that stands twice on a page counts with its first copy. Erased ones are left out. */
export async function readSeen(list: FeedList, page: Page): Promise<SeenRecord[]> {
  const { rules, isErased } = list;
  const byKey = keyed(rowsOf(page), rules);
  for (const key of byKey.keys()) if (isErased(key)) byKey.delete(key);
  const rows = [...byKey].map(([key, row]) => ({ key, row, digest: digestOfRow(row, rules) }));
  const digests = await list.digests(rows);
  return rows.map(({ key, row, digest }, index) => {
    const storedDigest = digests[index] ?? null;
    let record: UncheckedRecord | undefined;
    return {
      ...{ key, digest, storedDigest },
      get record() {
        return (record ??= rules.masked(row.record));
      },
    };
  });
}

/**
 * 64 bits: like a page's digest, it is compared with one earlier digest only. Under other masks, the record is stored again.
 */
export function digestOfRow({ bytes }: PageRow, { rowKey }: Rules): string {
  return hash('sha256', rowKey === '' ? bytes : Buffer.concat([Buffer.from(rowKey), bytes]), 'hex').slice(0, 16);
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
  { deps: { store }, name, rules }: FeedList,
  seen: readonly SeenRecord[],
): Promise<DifferingRecord[]> {
  const differing = seen.filter(({ digest, storedDigest }) => digest !== storedDigest);
  const keys = differing.map(({ key }) => key);
  const states = await store.records(name, keys);
  return differing.map((one, index) => {
    const state = states[index] ?? null;
    const stored = parseStored(state, rules);
    let moves: Transition[] | undefined;
    return {
      ...{ ...one, state, stored },
      get moves() {
        return (moves ??= movesSince(isStored(stored) ? stored : null, one.record, rules));
      },
    };
  });
}

/** An image from before a field was masked has the mask when it is read: what else has changed is found, and no event shows the field. */
export function parseStored(state: SerialisedRecord | null, rules: Rules): StoredRecord | null {
  if (state === null) return null;
  const { digest: _, image, ...rest } = state;
  const record = image === null ? null : (JSON.parse(image) as UncheckedRecord);
  const isBare = record !== null && rest.masked === undefined && rules.masks !== '';
  return isBare ? { ...rest, record: rules.masked(record), masked: rules.masks } : { ...rest, record };
}

export function serialised(
  { record: _, ...rest }: StoredRecord,
  { digest, image }: { digest: string; image: string | null },
): SerialisedRecord {
  return { ...rest, digest, image };
}
