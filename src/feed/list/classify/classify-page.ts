/**
 * Compares one page with the stored records. A record whose text has the stored digest is not loaded. A question that
 * only the whole list can answer turns the walk into a survey, and nothing of the page is written. A shortcut writes
 * only what is certain.
 */
import type { UnreadableRecord } from '../../api/unreadable.js';
import type { FieldChange } from '../../../crm/canonical.js';
import type { UncheckedRecord } from '../../../crm/record.js';
import { isSuspicious } from '../../detect/creation.js';
import { isLeftAlone, isOutdated } from '../../detect/left-alone.js';
import { isPresent } from '../../detect/removal.js';
import { isEdit } from '../../detect/rules.js';
import { addToDelta, type SchemaDelta } from '../../detect/schema-drift/schema.js';
import { storedValueTypes, valueTypesOf } from '../../detect/stored-record.js';
import { movesOnPage, NO_MOVES, NO_VERDICT, type PageMoves, type SurveyQuestion } from '../../detect/survey.js';
import { counted, countedAgain, countedOnce, type CountedKind } from '../counts.js';
import type { ListGuard } from '../guards/guard-creations.js';
import type { SweepMemory } from '../memory.js';
import { readDiffering, readSeen, type DifferingRecord, type SeenRecord } from '../records.js';
import type { SweepStore } from '../../store/sweep-store.js';
import type { Checkpoint, CreatedRecords, RecordWrite, Step } from '../../store/sweep-state.js';
import { isCertain } from './certain.js';
import { decide, type DecidedRecord, type DecideRules } from './classify-record.js';

/** A shortcut knows which ids shortcuts have created since the last walk began, and whether cursors are live. */
export type AskedBy = { by: 'walk' } | { by: 'shortcut'; created: CreatedRecords; isLive: boolean };

export interface ClassifyOptions extends DecideRules {
  asked: AskedBy;
  page: number;
  records: readonly UncheckedRecord[];
  /** Further records of the page, which cannot be read. What is stored about them stays, and they are not missing. */
  unreadable: readonly UnreadableRecord[];
  checkpoint: Checkpoint;
  memory: SweepMemory;
  /** Null: new records are not guarded, as in a baseline. */
  guard: ListGuard | null;
}

export interface PageChanges {
  writes: RecordWrite[];
  schema: SchemaDelta;
  created: string[];
}

export type ClassifiedPage =
  | {
      outcome: 'classified';
      /** Every record of the page is stored as the page shows it. */
      settled: boolean;
      keys: readonly string[];
      changes: PageChanges;
      /** Null: the members of the page are those of the last complete sweep. */
      members: NonNullable<Step['members']> | null;
      reached: Pick<Checkpoint, 'counts' | 'fresh' | 'muted' | 'edited' | 'changedPages' | 'unreadable'>;
      /** Records that differ, and that a shortcut leaves to the walk. */
      left: number;
      isOutdated: boolean;
    }
  | { outcome: 'survey'; question: SurveyQuestion };

/** @throws ChangefeedError CF_PAGE_MALFORMED when a record has no id */
export async function classifyPage(store: SweepStore, options: ClassifyOptions): Promise<ClassifiedPage> {
  const { page, records, rules, memory, unreadable, checkpoint } = options;
  const seen = await readSeen(store, records, rules);
  const before = rules.recognisedOnly ? null : await store.members(rules.list.name, page);
  const fresh = suspiciousCreations(options, seen);
  if (fresh > 0) return { outcome: 'survey', question: { about: 'creations', fresh } };
  const keys = [...seen.map(({ key }) => key), ...unreadable.flatMap(({ id }) => id ?? [])];
  // Compared in every sweep: with a record of an earlier page, which must count once, or with an unreadable one.
  const isOwn = unreadable.length === 0 && keys.every((key) => !memory.seen.has(key));
  const tally = new PageTally(options, new Set(before));
  const question = await tally.add(store, seen);
  if (question !== null) return { outcome: 'survey', question };
  const members = rules.recognisedOnly || sameMembers(before, keys) ? null : { page, keys };
  const { changedPages = 0 } = checkpoint;
  return {
    outcome: 'classified',
    settled: isOwn && tally.settled,
    keys,
    changes: tally.changes,
    members,
    left: tally.left,
    isOutdated: tally.isOutdated,
    reached: {
      ...tally.reached(),
      changedPages: changedPages + (members === null ? 0 : 1),
      ...(unreadable.length > 0 && { unreadable: withUnreadable(checkpoint, page, unreadable) }),
    },
  };
}

/** The new records so far, when they are suspiciously many; otherwise 0. */
function suspiciousCreations(
  { asked, guard, checkpoint, memory }: ClassifyOptions,
  seen: readonly SeenRecord[],
): number {
  const { allowed, heldSince } = checkpoint.verdict ?? NO_VERDICT;
  if (guard === null || heldSince !== null) return 0;
  const first = seen.filter(({ key }) => !memory.seen.has(key));
  const freshOnPage = first.filter(({ storedDigest }) => !isPresent(storedDigest)).length;
  if (freshOnPage === 0) return 0;
  const before = guard.reported + (checkpoint.fresh ?? 0);
  // A shortcut is measured by the whole list; the walk counts each record when it sees it.
  const soFar =
    asked.by === 'walk'
      ? { seen: checkpoint.counts.seen, fresh: before }
      : { seen: guard.before + before + asked.created.count, fresh: before + asked.created.count };
  const counts = { seen: soFar.seen + first.length, fresh: soFar.fresh + freshOnPage, allowed };
  return isSuspicious(counts, guard) ? counts.fresh : 0;
}

/** A field that is edited on most rows is among the first ones. */
const MOST_EDITED = 50;

class PageTally {
  readonly #options: ClassifyOptions;
  readonly #before: ReadonlySet<string>;
  readonly changes: PageChanges = { writes: [], schema: new Map(), created: [] };
  #counts: Checkpoint['counts'];
  #fresh: number;
  #muted: Readonly<Record<string, number>>;
  #edited: Readonly<Record<string, number>> | undefined;
  settled = true;
  left = 0;
  isOutdated = false;

  constructor(options: ClassifyOptions, before: ReadonlySet<string>) {
    this.#options = options;
    this.#before = before;
    const { counts, fresh = 0, muted = {}, edited } = options.checkpoint;
    this.#counts = counts;
    this.#fresh = fresh;
    this.#muted = muted;
    this.#edited = edited;
  }

  /** Returns the question that only the whole list can answer, if there is one; then nothing of the page is written. */
  async add(store: SweepStore, seen: readonly SeenRecord[]): Promise<SurveyQuestion | null> {
    const { asked, rules } = this.#options;
    const all = await readDiffering(store, rules.list.name, seen);
    const differing = all.filter(
      ({ record, stored }) => stored === null || !isLeftAlone(stored, record, this.#options),
    );
    this.isOutdated = all.some(({ record, stored }) => stored !== null && isOutdated(stored, record, this.#options));
    const { moved, moving } = this.#moves(seen, differing);
    if (asked.by === 'walk' && moving.length > 0) return { about: 'fields', fields: moving };
    const decided = differing.map((row) => ({ row, decision: decide(row, this.#options) }));
    const open = new Set(differing);
    for (const row of all) if (!open.has(row)) this.#leaveAlone(row);
    for (const { key, digest, storedDigest } of seen) if (digest === storedDigest) this.#count(key, 'unchanged');
    decided.forEach(({ row, decision }, index) => {
      const isMoving = moved[index]?.some(({ field }) => moving.includes(field)) === true;
      if (asked.by === 'walk') this.#decided(row, this.#heldBack(decision));
      else if (decision.write?.event != null) {
        const shortcut = { ...asked, created: asked.created.ids, isLive: asked.isLive && !this.isOutdated };
        const isWritten = !isMoving && isCertain(row, { ...this.#options, ...shortcut, before: this.#before });
        if (isWritten) this.#decided(row, decision);
        else this.left += 1;
      }
    });
    return null;
  }

  reached(): Pick<Checkpoint, 'counts' | 'fresh' | 'muted' | 'edited'> {
    const [fresh, edited] = [this.#fresh, this.#edited];
    return { counts: this.#counts, ...(fresh > 0 && { fresh }), muted: this.#muted, ...(edited && { edited }) };
  }

  #moves(seen: readonly SeenRecord[], differing: readonly DifferingRecord[]): PageMoves {
    const { baseline, checkpoint, drifted, memory, rules } = this.#options;
    if (baseline !== null) return NO_MOVES;
    const { schema, tracked } = memory;
    return movesOnPage(seen, differing, { rules, schema, tracked, drifted, edited: checkpoint.verdict?.edited ?? [] });
  }

  #leaveAlone({ key }: DifferingRecord): void {
    this.settled = false;
    this.#count(key, 'unchanged');
  }

  #heldBack(decision: DecidedRecord): DecidedRecord {
    const { heldSince } = this.#options.checkpoint.verdict ?? NO_VERDICT;
    return heldSince === null || decision.kind !== 'created' ? decision : { kind: 'held', write: null };
  }

  #decided({ key, digest, record, state, stored }: DifferingRecord, { kind, write, mutedBy }: DecidedRecord): void {
    const { asked, memory, rules } = this.#options;
    if (mutedBy !== undefined && this.#isFirst(key)) this.#muted = countedOnce(this.#muted, mutedBy);
    if (kind === 'edited' && this.#isFirst(key)) this.#countEdits(write?.event?.data.changes ?? []);
    this.#count(key, kind);
    const isStored = rules.recognisedOnly ? write !== null : (write?.state ?? state)?.digest === digest;
    if (!isStored) this.settled = false;
    if (write === null) return;
    this.changes.writes.push(write);
    if (kind === 'created' || kind === 'baselined') this.changes.created.push(key);
    if (kind === 'created' && asked.by === 'walk') this.#fresh += 1;
    const isKnown = stored !== null && stored.gone === undefined;
    const before = isKnown ? storedValueTypes(stored, record, { rules, schema: memory.schema }) : null;
    addToDelta(this.changes.schema, before, valueTypesOf(record, rules), memory.tracked);
  }

  #countEdits(changes: readonly FieldChange[]): void {
    for (const change of changes) {
      const counts = this.#edited ?? {};
      const hasRoom = Object.hasOwn(counts, change.field) || Object.keys(counts).length < MOST_EDITED;
      if (hasRoom && isEdit(change, this.#options.rules)) this.#edited = countedOnce(counts, change.field);
    }
  }

  /** What a shortcut has seen, the walk sees and counts itself. */
  #isFirst(key: string): boolean {
    const { asked, memory } = this.#options;
    return asked.by === 'walk' && !memory.seen.has(key);
  }

  #count(key: string, kind: CountedKind): void {
    const { asked, memory, page, rules } = this.#options;
    this.#counts = this.#isFirst(key) ? counted(this.#counts, kind) : countedAgain(this.#counts, kind);
    // Such a list may be too long to keep the keys that a walk has seen; a row that stands on two pages counts twice.
    if (asked.by === 'walk' && !rules.recognisedOnly && !memory.seen.has(key)) memory.seen.set(key, page);
  }
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

function sameMembers(before: readonly string[] | null, keys: readonly string[]): boolean {
  if (before?.length !== keys.length) return false;
  const sorted = [...keys].sort();
  return before.every((key, index) => key === sorted[index]);
}
