/**
 * Compares one page with the stored records: which records differ, and what is written for them. A record whose text has the
 * stored digest costs one digest and its share of one read. Only the others are loaded and decided about. When the page raises a question
 * that only the whole list can answer, nothing of it is written, and the walk becomes a survey.
 */
import type { UnreadableRecord } from '../../api/unreadable.js';
import type { UncheckedRecord } from '../../crm/record.js';
import { ageOf } from '../../detect/age.js';
import { isSuspicious, type CreationGuard } from '../../detect/creation.js';
import { recordDigest } from '../../detect/digest.js';
import { modifiedAtOf } from '../../detect/fields.js';
import { recordKey } from '../../detect/identity.js';
import { isPresent } from '../../detect/removal.js';
import type { Rules } from '../../detect/rules.js';
import { addToDelta, type SchemaDelta } from '../../detect/schema-drift/schema.js';
import { storedModifiedAt, valueTypesOf } from '../../detect/stored-record.js';
import { NO_VERDICT, type SurveyQuestion } from '../../detect/survey.js';
import {
  decide,
  isDecidedSince,
  parseStored,
  talliedValueTypes,
  type DecidedRecord,
  type DecideRules,
  type SeenRecord,
} from './classify-record.js';
import { counted, countedAgain, mutedOnce, type CountedKind } from '../counts.js';
import { movesOnPage } from '../guards/page-moves.js';
import { inParts, pageOfPart } from './page-parts.js';
import type { SweepMemory } from '../walk/start-sweep.js';
import type { Checkpoint, RecordWrite, Step, SweepStore } from '../store.js';

/** A page and everything its records are classified by. */
export interface ClassifyOptions extends DecideRules {
  records: readonly UncheckedRecord[];
  /** Further records of the page, which cannot be read. What is stored about them stays, and they are not missing. */
  unreadable: readonly UnreadableRecord[];
  /** When the page was asked for; null when that is not known. */
  askedAtMs: number | null;
  checkpoint: Checkpoint;
  memory: SweepMemory;
  /** Null: new records are not guarded, as in a baseline. */
  guard: (CreationGuard & { reported: number }) | null;
  /** Records committed by one script. @defaultValue RECORDS_PER_PART */
  recordsPerPart?: number | undefined;
}

/** What a page, or a part of it, changes, and where the sweep stands after it. */
export interface PageChanges {
  changes: Required<Pick<Step, 'writes' | 'schema' | 'members' | 'dropParts'>>;
  reached: Pick<Checkpoint, 'counts' | 'fresh' | 'muted' | 'changedPages' | 'parts' | 'unreadable'>;
}

/** `survey`: only the whole list can answer the question. Nothing more of the page is written. */
export type ClassifiedPage =
  | ({
      outcome: 'classified';
      /** Every record of the page is stored as the page shows it. */
      settled: boolean;
      /** The records on the page, each once. */
      keys: readonly string[];
    } & PageChanges)
  | { outcome: 'survey'; question: SurveyQuestion };

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
  const storedDigests = new Map(keysSeen.map((key, index) => [key, digests[index] ?? null]));
  const fresh = suspiciousCreations(options, storedDigests);
  if (fresh > 0) return { outcome: 'survey', question: { about: 'creations', fresh } };
  const parts = inParts(seen, options.recordsPerPart);
  // One older record makes the whole page doubtful, including earlier parts: it comes from a lagging replica.
  const lagging = parts.length > 1 && (await isLagging(store, parts, { ...options, storedDigests }));
  const context = { ...options, storedDigests, lagging };
  // A record that an earlier page has shown too must count once, so such a page is compared in every sweep. So is one with a record
  // that cannot be read.
  let settled = unreadable.length === 0 && pageKeys.every((key) => !memory.seen.has(key) || memory.partly.has(key));
  let { checkpoint } = options;
  for (const part of parts.slice(0, -1)) {
    const keys = part.map(({ key }) => key).filter((key) => !memory.seen.has(key));
    const tally = await tallyPart(store, part, { ...context, checkpoint });
    if (!(tally instanceof PageTally)) return tally;
    settled &&= tally.settled;
    for (const key of keys) memory.partly.add(key);
    const parts = (checkpoint.parts ?? 0) + 1;
    const { changes, reached } = tally.result({ members: { page: pageOfPart(parts), keys }, parts });
    checkpoint = { ...checkpoint, ...reached };
    yield { changes, reached };
  }
  // Records of committed parts count as shown, also when the page that is read again no longer has them.
  const keys = [...new Set([...pageKeys, ...memory.partly])];
  const tally = await tallyPart(store, parts.at(-1) ?? [], { ...context, checkpoint });
  if (!(tally instanceof PageTally)) return tally;
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
      ...reached,
      ...(unreadable.length > 0 && { unreadable: withUnreadable(options.checkpoint, page, unreadable) }),
    },
  };
}

/** The new records so far, when they are suspiciously many; otherwise 0. */
function suspiciousCreations(
  { guard, checkpoint, memory }: Pick<ClassifyOptions, 'guard' | 'checkpoint' | 'memory'>,
  storedDigests: StoredDigests,
): number {
  const { allowed, heldSince } = checkpoint.verdict ?? NO_VERDICT;
  if (guard === null || heldSince !== null) return 0;
  const first = [...storedDigests].filter(([key]) => !memory.seen.has(key));
  const freshOnPage = first.filter(([, digest]) => !isPresent(digest)).length;
  if (freshOnPage === 0) return 0;
  const seen = checkpoint.counts.seen + first.length;
  const fresh = guard.reported + (checkpoint.fresh ?? 0) + freshOnPage;
  return isSuspicious({ seen, fresh, allowed }, guard) ? fresh : 0;
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
}

async function tallyPart(
  store: Pick<ClassifyStore, 'records'>,
  part: readonly SeenRecord[],
  options: PartOptions,
): Promise<PageTally | Extract<ClassifiedPage, { outcome: 'survey' }>> {
  const { differing, states } = await differences(store, part, options);
  const lagging =
    options.lagging || differing.some(({ record }, index) => isOlder(record, states[index] ?? null, options));
  const fields = lagging ? [] : openFields(part, { differing, states }, options);
  if (fields.length > 0) return { outcome: 'survey', question: { about: 'fields', fields } };
  const tally = new PageTally({ ...options, observation: { ...options.observation, lagging } });
  for (const { key, digest } of part) if (options.storedDigests.get(key) === digest) tally.unchanged(key);
  differing.forEach((record, index) => tally.differs(record, states[index] ?? null));
  return tally;
}

/** The fields that move on this part of a page and are not decided. */
function openFields(
  part: readonly SeenRecord[],
  found: Differences,
  { rules, memory, checkpoint, baseline, drifted }: PartOptions,
): readonly string[] {
  if (baseline !== null) return [];
  const { schema, tracked } = memory;
  const { edited } = checkpoint.verdict ?? NO_VERDICT;
  return movesOnPage(part, found, { rules, schema, tracked, drifted, edited }).moving;
}

export interface Differences {
  differing: readonly SeenRecord[];
  /** The stored records of those that differ. */
  states: readonly (RecordWrite['state'] | null)[];
}

export async function differences(
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
  context: Pick<PartOptions, 'storedDigests' | 'rules' | 'askedAtMs' | 'observation'>,
): Promise<boolean> {
  for (const part of parts) {
    const { differing, states } = await differences(store, part, context);
    if (differing.some(({ record }, index) => isOlder(record, states[index] ?? null, context))) return true;
  }
  return false;
}

/** Adds up what the records of one part change. */
class PageTally {
  readonly #options: ClassifyOptions;
  readonly #writes: RecordWrite[] = [];
  readonly #schema: SchemaDelta = new Map();
  /** Every record so far is stored as the page shows it. */
  settled = true;
  #counts: Checkpoint['counts'];
  #fresh: number;
  #muted: Readonly<Record<string, number>>;

  constructor(options: ClassifyOptions) {
    this.#options = options;
    const { counts, fresh = 0, muted = {} } = options.checkpoint;
    this.#counts = counts;
    this.#fresh = fresh;
    this.#muted = muted;
  }

  unchanged(key: string): void {
    this.#count(key, 'unchanged');
  }

  differs(row: SeenRecord, state: RecordWrite['state'] | null): void {
    const { askedAtMs, checkpoint, memory, rules } = this.#options;
    const again = memory.seen.has(row.key);
    let decided = decide(row, state, askedAtMs, this.#options);
    if (decided.outcome === 'created' && (checkpoint.verdict?.heldSince ?? null) !== null)
      decided = heldBack(row, state);
    const { outcome, kind, write, mutedBy } = decided;
    this.#count(row.key, kind);
    if (kind === 'created') this.#fresh += 1;
    if (mutedBy !== undefined && !again) this.#muted = mutedOnce(this.#muted, mutedBy);
    if (write !== null) this.#writes.push(write);
    if ((write?.state ?? state)?.digest !== row.digest) this.settled = false;
    if (write === null || outcome === 'doubt' || kind === 'held') return;
    const before = talliedValueTypes(parseStored(state), rules);
    addToDelta(this.#schema, before, valueTypesOf(row.record, rules), memory.tracked);
  }

  /** @param parts parts of the page that are committed including this one; 0 when the page is complete */
  result({ members, parts }: { members: Step['members'] & (object | null); parts: number }): PageChanges {
    const { changedPages = 0, parts: before = 0 } = this.#options.checkpoint;
    const isComplete = parts === 0;
    const dropParts = isComplete ? Array.from({ length: before }, (_, index) => pageOfPart(index + 1)) : [];
    return {
      changes: { writes: this.#writes, schema: this.#schema, members, dropParts },
      reached: {
        counts: this.#counts,
        ...(this.#fresh > 0 && { fresh: this.#fresh }),
        muted: this.#muted,
        changedPages: changedPages + (isComplete && members !== null ? 1 : 0),
        parts,
      },
    };
  }

  #count(key: string, kind: CountedKind): void {
    const { seen } = this.#options.memory;
    this.#counts = seen.has(key) ? countedAgain(this.#counts, kind) : counted(this.#counts, kind);
    seen.add(key);
  }
}

/**
 * A new record that waits for a person. When it is a deleted one that reappeared and is confirmed, that is noted: otherwise every sweep
 * that holds would doubt it again.
 */
function heldBack({ key }: SeenRecord, state: RecordWrite['state'] | null): DecidedRecord {
  const { doubt } = state ?? {};
  const isNoted = state === null || doubt === undefined || doubt.certain === true;
  const write = isNoted ? null : { key, state: { ...state, doubt: { ...doubt, certain: true as const } }, event: null };
  return { outcome: 'created', kind: 'held', write };
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

/** Not of a record that was decided about since: the answer is older, and says nothing about the replica that gave it. */
function isOlder(
  record: UncheckedRecord,
  state: RecordWrite['state'] | null,
  { rules: { list }, askedAtMs, observation }: Pick<ClassifyOptions, 'rules' | 'askedAtMs' | 'observation'>,
): boolean {
  const stored = parseStored(state);
  if (stored === null || isDecidedSince(stored, askedAtMs, observation)) return false;
  return ageOf(modifiedAtOf(record, list), storedModifiedAt(stored, list)) === 'older';
}

function sameMembers(before: readonly string[] | null, keys: readonly string[]): boolean {
  if (before?.length !== keys.length) return false;
  const sorted = [...keys].sort();
  return before.every((key, index) => key === sorted[index]);
}
