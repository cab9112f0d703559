/**
 * Compares one page with the stored records: which records differ, and what is written for them. A record whose text has the
 * stored digest costs one digest and its share of one read. Only the others are loaded and compared.
 */
import type { UnreadableRecord } from '../api/unreadable.js';
import type { UncheckedRecord } from '../crm/record.js';
import { ageOf } from '../detect/age.js';
import type { CreationTally } from '../detect/creation.js';
import { recordDigest } from '../detect/digest.js';
import { modifiedAtOf } from '../detect/fields.js';
import { recordKey } from '../detect/identity.js';
import type { Rules } from '../detect/rules.js';
import { fieldsThatStay, noDrift, type DriftTally } from '../detect/schema-drift/drift.js';
import type { SchemaDelta } from '../detect/schema-drift/schema.js';
import { storedModifiedAt, valueTypesOf } from '../detect/stored-record.js';
import { classifyRecord, parseStored, unusualMoves, type ClassifyOptions, type SeenRecord } from './classify-record.js';
import { counted, countedAgain, mutedOnce, type CountedKind } from './counts.js';
import { guardCreations } from './guard-creations.js';
import { inParts, pageOfPart } from './page-parts.js';
import type { Checkpoint, Step, RecordWrite, SweepStore } from './store.js';

/** What a page, or a part of it, changes, and where the sweep stands after it. */
export interface PageChanges {
  changes: Required<Pick<Step, 'writes' | 'quarantine' | 'release' | 'schema' | 'members' | 'dropParts'>>;
  reached: Pick<Checkpoint, 'counts' | 'muted' | 'drift' | 'changedPages' | 'parts' | 'creations' | 'unreadable'>;
}

/** `walk again`: the withheld records are not too many. Nothing of the page is written. */
export type ClassifiedPage =
  | ({
      outcome: 'classified';
      /** Every record of the page is stored as the page shows it. */
      settled: boolean;
      /** The records on the page, each once. */
      keys: readonly string[];
    } & PageChanges)
  | { outcome: 'walk again'; allowed: number };

type ClassifyStore = Pick<SweepStore, 'digests' | 'records' | 'members'>;

/**
 * Classifies a page in parts: yields every part but the last, and returns the last. The caller commits each part before it asks
 * for the next.
 */
export async function* classifyPage(
  store: ClassifyStore,
  options: ClassifyOptions,
): AsyncGenerator<PageChanges, ClassifiedPage, undefined> {
  const { rules, memory, unreadable } = options;
  const page = options.checkpoint.pages + 1;
  const seen = seenRecords(options.records, rules);
  const keysSeen = seen.map(({ key }) => key);
  const pageKeys = [...keysSeen, ...unreadable.flatMap(({ id }) => id ?? [])];
  const [digests, before] = await Promise.all([
    store.digests(rules.list.name, keysSeen),
    store.members(rules.list.name, page),
  ]);
  const stored = keysSeen.map((key, index) => ({ key, storedDigest: digests[index] ?? null }));
  const guarded = guardCreations(options, stored);
  if (guarded.outcome === 'walk again') return guarded;
  const storedDigests = new Map(stored.map(({ key, storedDigest }) => [key, storedDigest]));
  const parts = inParts(seen, options.recordsPerPart);
  // One older record makes the whole page doubtful, including earlier parts: it comes from a lagging replica.
  const lagging = parts.length > 1 && (await isLagging(store, parts, { storedDigests, rules }));
  const context = { ...options, storedDigests, lagging, withholds: guarded.withholds, inParts: parts.length > 1 };
  const shown: string[] = [];
  // A record that an earlier page has shown too must count once, so such a page is compared in every sweep. So is one with a record
  // that cannot be read.
  let settled = unreadable.length === 0 && pageKeys.every((key) => !memory.seen.has(key) || memory.partly.has(key));
  let { checkpoint } = options;
  for (const part of parts.slice(0, -1)) {
    const keys = part.map(({ key }) => key).filter((key) => !memory.seen.has(key));
    const tally = await tallyPart(store, part, { ...context, checkpoint });
    settled &&= tally.settled;
    for (const key of keys) memory.partly.add(key);
    shown.push(...keys);
    const parts = (checkpoint.parts ?? 0) + 1;
    const { changes, reached: tallied } = tally.result({ members: { page: pageOfPart(parts), keys }, parts });
    const reached = withCreations(tallied, guarded.tallyOfParts(shown));
    checkpoint = { ...checkpoint, ...reached };
    yield { changes, reached };
  }
  // Records of committed parts count as shown, also when the page that is read again no longer has them.
  const keys = [...new Set([...pageKeys, ...memory.partly])];
  const tally = await tallyPart(store, parts.at(-1) ?? [], { ...context, checkpoint });
  memory.partly.clear();
  const members = sameMembers(before, keys) ? null : { page, keys };
  const { changes, reached } = tally.result({ members, parts: 0 });
  // The members also name records that only a committed part has shown. The next sweep must miss them on this page.
  settled &&= tally.settled && keys.length === pageKeys.length;
  return {
    outcome: 'classified',
    settled,
    keys: pageKeys,
    changes,
    reached: {
      ...withCreations(reached, guarded.tallyAfter(reached.counts)),
      ...(unreadable.length > 0 && { unreadable: withUnreadable(options.checkpoint, page, unreadable) }),
    },
  };
}

function withCreations(reached: PageChanges['reached'], creations: CreationTally | null): PageChanges['reached'] {
  return creations === null ? reached : { ...reached, creations };
}

/** A server whose records are all unreadable would make the checkpoint as large as the list. */
const MOST_NAMED = 20;

function withUnreadable(
  { unreadable = [] }: Checkpoint,
  page: number,
  found: readonly UnreadableRecord[],
): NonNullable<Checkpoint['unreadable']> {
  return [...unreadable, ...found.map((one) => ({ page, ...one }))].slice(0, MOST_NAMED);
}

/** Record key → stored digest; null for a record that has none. */
type StoredDigests = ReadonlyMap<string, string | null>;

interface PartOptions extends ClassifyOptions {
  storedDigests: StoredDigests;
  lagging: boolean;
  withholds: boolean;
  /** The page has other parts. */
  inParts: boolean;
}

async function tallyPart(
  store: Pick<ClassifyStore, 'records'>,
  part: readonly SeenRecord[],
  options: PartOptions,
): Promise<PageTally> {
  const { differing, states } = await differences(store, part, options);
  const lagging =
    options.lagging || differing.some(({ record }, index) => isOlder(record, states[index] ?? null, options.rules));
  const drift = driftOnPage(differing, states, options);
  const tally = new PageTally({ ...options, drift, observation: { ...options.observation, lagging } });
  for (const { key, digest } of part) if (options.storedDigests.get(key) === digest) tally.unchanged(key);
  differing.forEach((record, index) => tally.differs(record, states[index] ?? null));
  return tally;
}

/** With the fields ordinary that stayed on nearly all rows of this page. A part does not show how many rows of its page moved. */
function driftOnPage(
  differing: readonly SeenRecord[],
  states: readonly (RecordWrite['state'] | null)[],
  { inParts, checkpoint, records, ...options }: PartOptions,
): DriftTally {
  const { drift = noDrift() } = checkpoint;
  if (inParts) return drift;
  const moved = differing.map((record, index) => unusualMoves(record, states[index] ?? null, { ...options, drift }));
  if (moved.every((moves) => moves.length === 0)) return drift;
  return fieldsThatStay(drift, { moved, shown: records.map((record) => valueTypesOf(record, options.rules)) });
}

interface Differences {
  differing: readonly SeenRecord[];
  /** The stored records of those that differ. */
  states: readonly (RecordWrite['state'] | null)[];
}

async function differences(
  store: Pick<ClassifyStore, 'records'>,
  part: readonly SeenRecord[],
  { storedDigests, rules }: { storedDigests: StoredDigests; rules: Rules },
): Promise<Differences> {
  // Copies: what is computed of a record and kept with it (memoized.ts) is released with its part, not with its page.
  const differing = part
    .filter(({ key, digest }) => storedDigests.get(key) !== digest)
    .map((seen) => ({ ...seen, record: { ...seen.record } }));
  const keys = differing.map(({ key }) => key);
  return { differing, states: await store.records(rules.list.name, keys) };
}

async function isLagging(
  store: Pick<ClassifyStore, 'records'>,
  parts: readonly (readonly SeenRecord[])[],
  context: { storedDigests: StoredDigests; rules: Rules },
): Promise<boolean> {
  for (const part of parts) {
    const { differing, states } = await differences(store, part, context);
    if (differing.some(({ record }, index) => isOlder(record, states[index] ?? null, context.rules))) return true;
  }
  return false;
}

/** Adds up what the records of one part change. */
class PageTally {
  readonly #options: ClassifyOptions & { withholds: boolean };
  /** Not only for this page. */
  readonly #ordinary: DriftTally['ordinary'];
  readonly #writes: RecordWrite[] = [];
  readonly #quarantine: [key: string, json: string][] = [];
  readonly #release: string[] = [];
  readonly #schema: SchemaDelta = new Map();
  /** Every record so far is stored as the page shows it. */
  settled = true;
  #counts: Checkpoint['counts'];
  #muted: Readonly<Record<string, number>>;
  #drift: DriftTally;

  constructor({ drift, ...options }: ClassifyOptions & { drift: DriftTally; withholds: boolean }) {
    this.#options = options;
    const { counts, muted = {}, drift: before = noDrift() } = options.checkpoint;
    this.#counts = counts;
    this.#muted = muted;
    this.#drift = drift;
    this.#ordinary = before.ordinary;
  }

  unchanged(key: string): void {
    // A quarantined record is again what it was before.
    this.#takeOut(key);
    if (this.#count(key, 'unchanged')) this.#drift = { ...this.#drift, rows: this.#drift.rows + 1 };
  }

  differs(record: SeenRecord, state: RecordWrite['state'] | null): void {
    const { key } = record;
    const { memory } = this.#options;
    const again = memory.seen.has(key);
    const classified = classifyRecord(record, state, {
      ...this.#options,
      drift: this.#drift,
      again,
      schemaDelta: this.#schema,
    });
    this.#drift = classified.drift;
    this.#count(key, classified.kind);
    if (classified.mutedBy !== undefined && !again) this.#muted = mutedOnce(this.#muted, classified.mutedBy);
    if (classified.kind === 'quarantined') {
      this.#quarantine.push([key, JSON.stringify(record.record)]);
      memory.quarantined.add(key);
    } else if (classified.kind !== 'stale') this.#takeOut(key);
    if (classified.write !== null) this.#writes.push(classified.write);
    if ((classified.write?.state ?? state)?.digest !== record.digest) this.settled = false;
  }

  /** @param parts parts of the page that are committed including this one; 0 when the page is complete */
  result({ members, parts }: { members: Step['members'] & (object | null); parts: number }): PageChanges {
    const { changedPages = 0, parts: before = 0 } = this.#options.checkpoint;
    const isComplete = parts === 0;
    const dropParts = isComplete ? Array.from({ length: before }, (_, index) => pageOfPart(index + 1)) : [];
    return {
      changes: {
        writes: this.#writes,
        quarantine: this.#quarantine,
        release: this.#release,
        schema: this.#schema,
        members,
        dropParts,
      },
      reached: {
        counts: this.#counts,
        muted: this.#muted,
        drift: { ...this.#drift, ordinary: this.#ordinary },
        changedPages: changedPages + (isComplete && members !== null ? 1 : 0),
        parts,
      },
    };
  }

  /** True when this sweep sees the record for the first time. */
  #count(key: string, kind: CountedKind): boolean {
    const { seen } = this.#options.memory;
    const first = !seen.has(key);
    this.#counts = first ? counted(this.#counts, kind) : countedAgain(this.#counts, kind);
    seen.add(key);
    return first;
  }

  #takeOut(key: string): void {
    if (this.#options.memory.quarantined.delete(key)) this.#release.push(key);
  }
}

/** A record that stands twice on one page counts once, with its first copy. */
export function seenRecords(records: readonly UncheckedRecord[], rules: Rules): SeenRecord[] {
  const occurrences = new Map<string, number>();
  const occurrence = (key: string): number => {
    const count = (occurrences.get(key) ?? 0) + 1;
    occurrences.set(key, count);
    return count;
  };
  const byKey = new Map<string, SeenRecord>();
  for (const record of records) {
    const key = recordKey(record, rules, occurrence);
    if (byKey.has(key)) continue;
    const text = JSON.stringify(record);
    byKey.set(key, { key, record, characters: text.length, digest: recordDigest(text) });
  }
  return [...byKey.values()];
}

function isOlder(record: UncheckedRecord, state: RecordWrite['state'] | null, { list }: Rules): boolean {
  return state !== null && ageOf(modifiedAtOf(record, list), storedModifiedAt(parseStored(state), list)) === 'older';
}

function sameMembers(before: readonly string[] | null, keys: readonly string[]): boolean {
  if (before?.length !== keys.length) return false;
  const sorted = [...keys].sort();
  return before.every((key, index) => key === sorted[index]);
}
