/**
 * Compares one page with the stored records, and decides about those that differ. A record whose text has the stored digest is
 * not loaded. A question that only the whole list can answer turns the walk into a survey, and nothing of the page is written. A
 * shortcut writes only what is certain.
 */
import type { Page } from '../api/read-api.js';
import type { UnreadableRecord } from '../api/unreadable.js';
import type { FieldChange } from '../../crm/canonical.js';
import { modifiedAtOf } from '../detect/fields.js';
import { isKnownByContent } from '../detect/identity.js';
import { ageOf, isLeftAlone, isOutdated } from '../detect/left-alone.js';
import { isDiscarded, isKnown, isStored } from '../detect/record-state.js';
import { isEdit, type Rules } from '../detect/rules.js';
import { movesOnPage, NO_MOVES } from '../detect/schema-drift/drift.js';
import { addToDelta, type SchemaDelta } from '../detect/schema-drift/schema.js';
import { isOfOtherMasks, movesSince, storedModifiedAt } from '../detect/stored-record.js';
import type { SurveyQuestion } from '../detect/survey.js';
import type { AddedCounts, Checkpoint, CountedKind, RecordWrite, SweepCounts } from '../store/sweep-state.js';
import { decide, type DecidedRecord } from './decide.js';
import { nameHeld, suspiciousCreations } from './creations.js';
import type { FeedList } from './list.js';
import { parseStored, readDiffering, readSeen, type DifferingRecord } from './records.js';

/** A page that was read. */
export interface ComparedPage {
  /**
   * A shortcut knows which ids shortcuts have created since the last walk began, and whether cursors are live.
   */
  by: 'walk' | { created: ReadonlySet<string>; isLive: boolean };
  /** Whether other pages show known records, which is asked when this one shows none. */
  isOurs: () => Promise<boolean>;
  number: number;
  /** Its unreadable records stay as they are stored, and they are not missing. */
  page: Page;
  /** When it was asked for; null when it is certainly younger than every stored record. */
  askedAtMs: number | null;
}

interface DecidedRow {
  row: DifferingRecord;
  decision: DecidedRecord;
}

export interface PageComparison {
  keys: readonly string[];
  writes: RecordWrite[];
  schema: SchemaDelta;
  created: readonly string[];
  counted: AddedCounts;
  /** Every record of the page is stored as the page shows it. */
  isSettled: boolean;
  /** Null: the members of the page are those of the last complete sweep. */
  members: { page: number; keys: readonly string[] } | null;
  /** Records that differ, and that a shortcut leaves to the walk. */
  left: number;
  /** It shows a record that is older than its stored record. */
  isOutdated: boolean;
  /** The fields of the checkpoint that the page changes. */
  reached: Partial<Checkpoint> & Pick<Checkpoint, 'counts'>;
}

/** @throws ChangefeedError CF_PAGE_MALFORMED when a record has no id */
export async function comparePage(list: FeedList, compared: ComparedPage): Promise<PageComparison | SurveyQuestion> {
  const { rules, checkpoint } = list;
  const { by, number, page } = compared;
  const { unreadable = [] } = page;
  const seen = await readSeen(list, page);
  const first = by === 'walk' ? seen.filter(({ key }) => !list.seen.has(key)) : seen;
  const fresh = await suspiciousCreations(list, first, { isWalk: by === 'walk', isOurs: compared.isOurs });
  if (fresh > 0) return { about: 'creations', fresh };
  const keys = [...seen.map(({ key }) => key), ...unreadable.flatMap(({ id }) => id ?? [])];
  // Compared in every sweep: with a record of an earlier page, which must count once, or with an unreadable one.
  const isOwn = unreadable.length === 0 && keys.every((key) => !list.seen.has(key));
  const { before, isSame } = await list.members(number, keys);
  const all = await readDiffering(list, seen);
  const { baseline, drifted, verdict } = list;
  const { askedAtMs } = compared;
  const wereDiscarded = all.some(({ stored }) => stored?.discarded !== undefined);
  const { snapshots } = wereDiscarded ? await list.deps.store.decided(list.name) : { snapshots: 0 };
  const answer = { rules, askedAtMs, baseline, drifted, verdict, snapshots, observation: list.observation() };
  const leftAlone = new Set(all.filter(({ record, stored }) => stored !== null && isLeftAlone(stored, record, answer)));
  const differing = all.filter((row) => !leftAlone.has(row));
  const isOld = all.some(({ record, stored }) => stored !== null && isOutdated(stored, record, answer));
  const asked = { rules, schema: list.schema, tracked: list.tracked, drifted, edited: verdict.edited };
  const { moved, moving } = baseline === null ? movesOnPage(seen, differing, asked) : NO_MOVES;
  if (by === 'walk' && moving.length > 0) return { about: 'fields', fields: moving };
  const decided = differing.map((row): DecidedRow => ({ row, decision: decide(row, answer) }));
  const tally = new Tally(list, compared);
  const isWritten = ({ row, decision }: DecidedRow, index: number): boolean => {
    const isMoving = moved[index]?.some(({ field }) => moving.includes(field)) === true;
    return decision.write?.event != null && !isMoving && isCertain(list, compared, { row, before, isOld });
  };
  const written = by === 'walk' ? decided : decided.filter(isWritten);
  for (const { key, digest, storedDigest } of seen) if (digest === storedDigest) tally.count(key, 'unchanged');
  for (const { key } of leftAlone) tally.count(key, 'unchanged');
  for (const decidedRow of written) tally.add(decidedRow);
  const { changedPages = 0 } = checkpoint;
  const unnamed = unreadable.filter(({ id }) => id === null).length;
  return {
    keys,
    writes: tally.writes,
    schema: tally.schema,
    created: tally.created,
    counted: tally.counted,
    isSettled: isOwn && leftAlone.size === 0 && written.every(({ decision }) => decision.write !== null),
    members: isSame ? null : { page: number, keys },
    left: by === 'walk' ? 0 : decided.filter(({ decision }) => decision.write?.event != null).length - written.length,
    isOutdated: isOld,
    reached: {
      ...tally.reached(),
      ...(by === 'walk' && {
        known: (checkpoint.known ?? 0) + first.filter((one) => isKnown(one.storedDigest)).length,
      }),
      changedPages: changedPages + (isSame ? 0 : 1),
      ...(unreadable.length > 0 && { unreadable: withUnreadable(checkpoint, number, unreadable) }),
      ...(by === 'walk' && unnamed > 0 && { unnamed: (checkpoint.unnamed ?? 0) + unnamed }),
    },
  };
}

/**
 * A shortcut commits records never stored or newer than stored, and other differences while the list is live. The walk
 * gets the rest, and what it may have seen on another page: the next sweep could skip that page by its bytes, and miss that
 * the change was undone.
 */
function isCertain(
  list: FeedList,
  { by, number }: ComparedPage,
  { row, before, isOld }: { row: DifferingRecord; before: readonly string[]; isOld: boolean },
): boolean {
  const { key, record, stored } = row;
  if (by === 'walk') return true;
  if (stored === null) return !isRepeatedRow(key, list.rules);
  const isHere = before.includes(key) || by.created.has(key);
  const isElsewhere = (list.seen.get(key) ?? number) !== number;
  if (!isStored(stored) || !isHere || isElsewhere) return false;
  const age = ageOf(modifiedAtOf(record, list.rules.list), storedModifiedAt(stored, list.rules.list));
  return age === 'newer' || (by.isLive && !isOld && age === 'unclear');
}

/** The second of two equal rows without ids. Their number depends on where pages begin. */
function isRepeatedRow(key: string, rules: Rules): boolean {
  return isKnownByContent(key, rules) && /-\d+$/u.test(key);
}

/** A field that is edited on most rows is among the first ones. */
const MOST_EDITED = 50;
/** A record seen before in this sweep counts again only when it changed since. */
const COUNTED_AGAIN: readonly CountedKind[] = ['created', 'edited', 'refreshed'];

/** Collects what is written of a page, and the counts of the sweep after it. */
class Tally {
  readonly #list: FeedList;
  readonly #page: ComparedPage;
  readonly writes: RecordWrite[] = [];
  readonly schema: SchemaDelta = new Map();
  readonly created: string[] = [];
  readonly counts: SweepCounts;
  readonly counted: AddedCounts = { fresh: 0, discarded: 0, quietly: 0 };
  #muted: Readonly<Record<string, number>>;
  #edited: Readonly<Record<string, number>> | undefined;

  constructor(list: FeedList, page: ComparedPage) {
    const { counts, muted = {}, edited } = list.checkpoint;
    this.#list = list;
    this.#page = page;
    this.counts = { ...counts };
    this.#muted = muted;
    this.#edited = edited;
  }

  add({ row, decision: { kind, write, mutedBy } }: DecidedRow): void {
    const { key, record, state, stored } = row;
    const { rules, tracked } = this.#list;
    if (mutedBy !== undefined && this.#isFirst(key)) this.#muted = countedOnce(this.#muted, mutedBy);
    if (kind === 'edited' && this.#isFirst(key)) this.#countEdits(write?.event?.data.changes ?? []);
    this.count(key, kind);
    if (kind === 'held') nameHeld(this.#list, row);
    if (write === null) return;
    this.writes.push(write);
    if (kind === 'created' || kind === 'baselined') this.created.push(key);
    if (kind === 'created') this.counted.fresh += 1;
    this.counted.discarded += Number(write.state !== null && isDiscarded(write.state)) - Number(isDiscarded(stored));
    if (stored?.discarded !== undefined && write.event === null) this.counted.quietly += 1;
    // The tally counts the values as they were stored.
    const isMaskedNow = state !== null && isOfOtherMasks(state, rules);
    const moves = isMaskedNow ? movesSince(parseStored(state, { ...rules, masks: '' }), record, rules) : row.moves;
    addToDelta(this.schema, { moves, rows: isStored(stored) ? 0 : 1, tracked });
  }

  count(key: string, kind: CountedKind): void {
    const isFirst = this.#isFirst(key);
    if (isFirst) this.counts.seen += 1;
    if (isFirst || COUNTED_AGAIN.includes(kind)) this.counts[kind] += 1;
    if (isFirst) this.#list.saw(key, this.#page.number);
  }

  reached(): PageComparison['reached'] {
    const edited = this.#edited;
    return { counts: this.counts, muted: this.#muted, ...(edited && { edited }) };
  }

  #countEdits(changes: readonly FieldChange[]): void {
    for (const change of changes) {
      const counts = this.#edited ?? {};
      const hasRoom = Object.hasOwn(counts, change.field) || Object.keys(counts).length < MOST_EDITED;
      if (hasRoom && isEdit(change, this.#list.rules)) this.#edited = countedOnce(counts, change.field);
    }
  }

  /** Only the walk counts: it sees again what a shortcut has seen. */
  #isFirst(key: string): boolean {
    return this.#page.by === 'walk' && !this.#list.seen.has(key);
  }
}

function countedOnce(counts: Readonly<Record<string, number>>, name: string): Readonly<Record<string, number>> {
  // A field may have a name that every object of the language knows.
  return { ...counts, [name]: (Object.hasOwn(counts, name) ? (counts[name] ?? 0) : 0) + 1 };
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
