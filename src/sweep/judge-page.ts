/**
 * One page against what is remembered: which records differ, and what is to be written for them. Cheap first: a record
 * whose text hashes as before costs one digest and its share of one read; only the others are loaded and compared.
 */
import type { UncheckedRecord } from '../crm/record.js';
import { ageOf } from '../detect/age.js';
import { modifiedAtOf } from '../detect/fields.js';
import { storedModifiedAt } from '../detect/known.js';
import { noDrift } from '../detect/drift.js';
import { digestOf } from '../detect/digest.js';
import { recordKey } from '../detect/identity.js';
import type { Rules } from '../detect/rules.js';
import type { SchemaDelta } from '../detect/schema.js';
import { counted, countedAgain, mutedOnce, type CountedKind } from './counts.js';
import { judgeRecord, knownRecord, type SeenRecord } from './judge-record.js';
import type { CreationTally } from '../detect/creation.js';
import { guardCreations } from './guard-creations.js';
import type { JudgeOptions } from './judging.js';
import { inParts, placeOfPart } from './page-parts.js';
import type { Checkpoint, PageCommit, RecordWrite, SweepStore } from './store.js';

/** What a page changes, and what the sweep knows after it. */
export interface Judgement {
  changes: Required<Pick<PageCommit, 'writes' | 'quarantine' | 'release' | 'schema' | 'members' | 'dropParts'>>;
  reached: Pick<Checkpoint, 'counts' | 'muted' | 'drift' | 'changedPages' | 'parts' | 'creations'>;
}

/** `walk again`: the page shows that what this sweep has withheld is no flood. Nothing of it is written. */
export type JudgedPage = ({ outcome: 'judged' } & Judgement) | { outcome: 'walk again'; allowed: number };

type JudgeStore = Pick<SweepStore, 'digests' | 'records' | 'members'>;

/**
 * Judges a page in its parts: gives every part but the last, and returns the last. Each is to be committed before the next
 * is asked for.
 */
export async function* judgePage(
  store: JudgeStore,
  options: JudgeOptions,
): AsyncGenerator<Judgement, JudgedPage, undefined> {
  const { rules, memory } = options;
  const page = options.checkpoint.pages + 1;
  const seen = seenRecords(options.records, rules);
  const pageKeys = seen.map(({ key }) => key);
  const [digests, before] = await Promise.all([store.digests(rules.list, pageKeys), store.members(rules.list, page)]);
  const stored = pageKeys.map((key, index) => ({ key, storedDigest: digests[index] ?? null }));
  const guarded = guardCreations(options, stored);
  if (guarded.outcome === 'walk again') return guarded;
  const known = new Map(stored.map(({ key, storedDigest }) => [key, storedDigest]));
  const parts = inParts(seen, options.recordsPerPart);
  // One older record makes the whole page a lagging replica's, the parts before it too.
  const lagging = parts.length > 1 && (await isLagging(store, parts, { known, rules }));
  const judging = { ...options, known, lagging, withholds: guarded.withholds };
  const shown: string[] = [];
  let { checkpoint } = options;
  for (const part of parts.slice(0, -1)) {
    const keys = part.map(({ key }) => key).filter((key) => !memory.seen.has(key));
    const tally = await tallied(store, part, { ...judging, checkpoint });
    for (const key of keys) memory.partly.add(key);
    shown.push(...keys);
    const place = (checkpoint.parts ?? 0) + 1;
    const judgement = tally.judgement({ members: { page: placeOfPart(place), keys }, parts: place });
    const reached = withCreations(judgement.reached, guarded.tallyOfParts(shown));
    checkpoint = { ...checkpoint, ...reached };
    yield { ...judgement, reached };
  }
  // What an interrupted look at this page has shown was there, also where the page read again is without it.
  const keys = [...new Set([...pageKeys, ...memory.partly])];
  const tally = await tallied(store, parts.at(-1) ?? [], { ...judging, checkpoint });
  memory.partly.clear();
  const members = sameMembers(before, keys) ? null : { page, keys };
  const { changes, reached } = tally.judgement({ members, parts: 0 });
  return { outcome: 'judged', changes, reached: withCreations(reached, guarded.tallyAfter(reached.counts)) };
}

function withCreations(reached: Judgement['reached'], creations: CreationTally | null): Judgement['reached'] {
  return creations === null ? reached : { ...reached, creations };
}

/** Record key → digest of its text in the state; null where it is not known. */
type KnownDigests = ReadonlyMap<string, string | null>;

async function tallied(
  store: JudgeStore,
  part: readonly SeenRecord[],
  options: JudgeOptions & { known: KnownDigests; lagging: boolean; withholds: boolean },
): Promise<PageTally> {
  const { differing, states } = await differences(store, part, options);
  const lagging = options.lagging || differing.some(({ record }, index) => isOlder(record, states[index] ?? null));
  const tally = new PageTally({ ...options, observation: { ...options.observation, lagging } });
  for (const { key, digest } of part) if (options.known.get(key) === digest) tally.unchanged(key);
  differing.forEach((record, index) => tally.differs(record, states[index] ?? null));
  return tally;
}

interface Differences {
  differing: readonly SeenRecord[];
  /** Of those that differ. */
  states: readonly (RecordWrite['state'] | null)[];
}

async function differences(
  store: JudgeStore,
  part: readonly SeenRecord[],
  { known, rules }: { known: KnownDigests; rules: Rules },
): Promise<Differences> {
  const differing = part.filter(({ key, digest }) => known.get(key) !== digest);
  const keys = differing.map(({ key }) => key);
  return { differing, states: await store.records(rules.list, keys) };
}

async function isLagging(
  store: JudgeStore,
  parts: readonly (readonly SeenRecord[])[],
  known: { known: KnownDigests; rules: Rules },
): Promise<boolean> {
  for (const part of parts) {
    const { differing, states } = await differences(store, part, known);
    if (differing.some(({ record }, index) => isOlder(record, states[index] ?? null))) return true;
  }
  return false;
}

/** Adds up what the records of one page come to. */
class PageTally {
  readonly #options: JudgeOptions & { withholds: boolean };
  readonly #writes: RecordWrite[] = [];
  readonly #hold: [key: string, json: string][] = [];
  readonly #unhold: string[] = [];
  readonly #schema: SchemaDelta = new Map();
  #counts: Checkpoint['counts'];
  #muted: Readonly<Record<string, number>>;
  #drift;

  constructor(options: JudgeOptions & { withholds: boolean }) {
    this.#options = options;
    const { counts, muted = {}, drift = noDrift() } = options.checkpoint;
    this.#counts = counts;
    this.#muted = muted;
    this.#drift = drift;
  }

  unchanged(key: string): void {
    // What waited has gone back to what it was.
    this.#release(key);
    if (this.#count(key, 'unchanged')) this.#drift = { ...this.#drift, rows: this.#drift.rows + 1 };
  }

  differs(record: SeenRecord, state: RecordWrite['state'] | null): void {
    const { key, text } = record;
    const { memory } = this.#options;
    const again = memory.seen.has(key);
    const judged = judgeRecord(record, state, {
      ...this.#options,
      drift: this.#drift,
      again,
      schemaDelta: this.#schema,
    });
    this.#drift = judged.drift;
    this.#count(key, judged.kind);
    if (judged.mutedBy !== undefined && !again) this.#muted = mutedOnce(this.#muted, judged.mutedBy);
    if (judged.kind === 'quarantined') {
      this.#hold.push([key, text]);
      memory.held.add(key);
    } else if (judged.kind !== 'stale') this.#release(key);
    if (judged.write !== null) this.#writes.push(judged.write);
  }

  /** `parts`: how many of the page are committed with this one; 0 when the page is complete. */
  judgement({ members, parts }: { members: PageCommit['members'] & (object | null); parts: number }): Judgement {
    const { changedPages = 0, parts: before = 0 } = this.#options.checkpoint;
    const isComplete = parts === 0;
    const dropParts = isComplete ? Array.from({ length: before }, (_, index) => placeOfPart(index + 1)) : [];
    return {
      changes: {
        writes: this.#writes,
        quarantine: this.#hold,
        release: this.#unhold,
        schema: this.#schema,
        members,
        dropParts,
      },
      reached: {
        counts: this.#counts,
        muted: this.#muted,
        drift: this.#drift,
        changedPages: changedPages + (isComplete && members !== null ? 1 : 0),
        parts,
      },
    };
  }

  /** True at the first look of this sweep. */
  #count(key: string, kind: CountedKind): boolean {
    const { seen } = this.#options.memory;
    const first = !seen.has(key);
    this.#counts = first ? counted(this.#counts, kind) : countedAgain(this.#counts, kind);
    seen.add(key);
    return first;
  }

  #release(key: string): void {
    if (this.#options.memory.held.delete(key)) this.#unhold.push(key);
  }
}

/** A record that stands twice on one page counts once: its first copy. */
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
    byKey.set(key, { key, record, text, digest: digestOf(text) });
  }
  return [...byKey.values()];
}

function isOlder(record: UncheckedRecord, state: RecordWrite['state'] | null): boolean {
  return state !== null && ageOf(modifiedAtOf(record), storedModifiedAt(knownRecord(state))) === 'older';
}

function sameMembers(before: readonly string[] | null, keys: readonly string[]): boolean {
  if (before?.length !== keys.length) return false;
  const sorted = [...keys].sort();
  return before.every((key, index) => key === sorted[index]);
}
