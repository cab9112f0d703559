/**
 * Commits what a page that was read outside the order of a walk shows for certain. It is compared and decided about like a page of the walk, and
 * committed under the same lease with the same event ids; the difference is what is kept of the decisions:
 *
 * - records that were never stored;
 * - records whose own time of change is newer than the stored one;
 * - any other difference while the list is `live`: the cursors that were kept are answered with the list as it is now.
 *
 * Everything else is left to the walk. A page with one record in doubt is left as a whole: it comes from a lagging replica, or its cursor belongs
 * to an old snapshot.
 */
import type { Page } from '../../api/read-api.js';
import type { UncheckedRecord } from '../../crm/record.js';
import { ageOf } from '../../detect/age.js';
import { isSuspicious } from '../../detect/creation.js';
import { modifiedAtOf } from '../../detect/fields.js';
import { heldOf } from '../../detect/held.js';
import { isKnownByContent } from '../../detect/identity.js';
import type { Rules } from '../../detect/rules.js';
import { addToDelta, TrackedFields, type SchemaDelta } from '../../detect/schema-drift/schema.js';
import { storedModifiedAt, valueTypesOf } from '../../detect/stored-record.js';
import { NO_VERDICT } from '../../detect/survey.js';
import { ChangefeedError } from '../../errors.js';
import type { ChangeEvent } from '../../events/types.js';
import { differences, seenRecords, type Differences } from '../classify/classify-page.js';
import {
  decide,
  parseStored,
  talliedValueTypes,
  type DecidedRecord,
  type DecideRules,
  type SeenRecord,
} from '../classify/classify-record.js';
import type { CountedKind } from '../counts.js';
import { expectCommitted } from '../errors.js';
import { guardOf } from '../guards/guard-creations.js';
import { observationOf } from '../options.js';
import { movesOnPage } from '../guards/page-moves.js';
import { inParts } from '../classify/page-parts.js';
import { isSameSource, type SweepMemory } from '../walk/start-sweep.js';
import type { Checkpoint, FencingToken, ListState, RecordWrite, SerialisedRecord, SweepSummary } from '../store.js';
import type { ShortcutAnswer, ShortcutDeps, ShortcutOptions } from './shortcut-page.js';

/**
 * - `no baseline`, `source`, `held`, `finishing`: the state of the list does not allow shortcuts now.
 * - `malformed`: a record without an id.
 * - `doubt`: a record is older than its stored record, or shows earlier contents.
 * - `too many new`: the guard on new records decides about a whole list.
 */
export type DropReason = 'no baseline' | 'source' | 'held' | 'finishing' | 'malformed' | 'doubt' | 'too many new';

export type ShortcutResult = { outcome: 'dropped'; why: DropReason } | ShownPage;

/** What a page showed, and what was committed of it. */
export interface ShownPage {
  outcome: 'shown';
  /** Keys of its records. */
  keys: readonly string[];
  nextCursor: string | null;
  created: readonly string[];
  /** Known records whose stored record was replaced, with or without an event. */
  rewritten: readonly string[];
  /** Records that differ and are left to the walk. */
  left: number;
  /** To be added to the counts of the walk. Its `seen` counts these records when it sees them itself. */
  counts: Readonly<Record<'created' | 'edited' | 'refreshed', number>>;
  events: readonly ChangeEvent[];
}

/** Why a list's shortcuts may commit nothing now; null when they may. */
export function whyNoShortcut(
  { baselineAt, lastSweep }: ListState,
  checkpoint: Checkpoint | null,
  source: string | undefined,
): DropReason | null {
  if (baselineAt === null || lastSweep === null || checkpoint?.mode === 'baseline') return 'no baseline';
  if (!isSameSource(lastSweep.source, source) || !isSameSource(checkpoint?.source, source)) return 'source';
  if (checkpoint?.takesOver === true) return 'source';
  if (checkpoint?.finishing === true) return 'finishing';
  const { survey, verdict } = checkpoint ?? {};
  if (survey === 'creations' || (verdict?.heldSince ?? null) !== null) return 'held';
  return heldOf(lastSweep.held, 'creations') === undefined ? null : 'held';
}

interface Accepted extends SeenRecord {
  write: RecordWrite;
  kind: CountedKind;
  isNew: boolean;
  schema: SchemaDelta;
}

interface Decided {
  accepted: readonly Accepted[];
  left: number;
}

/** @throws ChangefeedError CF_LEASE_LOST, CF_STATE_LOST */
export async function commitShortcut(
  deps: ShortcutDeps,
  options: ShortcutOptions,
  asked: ShortcutAnswer,
): Promise<ShortcutResult> {
  const { shortcut, answer, state, checkpoint } = asked;
  const { list, rules } = options;
  const off = whyNoShortcut(state, checkpoint, deps.source);
  if (off !== null) return dropped(off);
  const seen = readRecords(answer, rules);
  if (seen === null) return dropped('malformed');
  const keys = seen.map(({ key }) => key);
  const shown = { outcome: 'shown', keys, nextCursor: answer.nextCursor } as const;
  const digests = await deps.store.digests(list, keys);
  const storedDigests = new Map(keys.map((key, index) => [key, digests[index] ?? null]));
  const found = await differences(deps.store, seen, { storedDigests, rules });
  if (found.differing.length === 0) return { ...shown, ...NOTHING };
  const context = decideRules(deps, options, asked);
  const rows = found.differing.map((row, index): Row => {
    const stored = found.states[index] ?? null;
    return { ...row, stored, isNew: stored === null, ...decide(row, stored, asked.askedAtMs, context) };
  });
  if (rows.some(({ outcome }) => outcome === 'doubt')) return dropped('doubt');
  const createdBefore = await deps.store.createdByShortcuts(list);
  const freshOnPage = rows.filter(({ isNew }) => isNew).length;
  if (isTooManyNew(options, asked, { freshOnPage, createdBefore: createdBefore.length }))
    return dropped('too many new');
  const decided = await acceptedOf(deps, options, { asked, seen, found, rows, createdBefore: new Set(createdBefore) });
  await commitAll(deps, options, { token: asked.token, page: shortcut.page, accepted: decided.accepted });
  return { ...shown, ...summarised(decided) };
}

/** A record that differs from its stored record, and what was decided about it. */
interface Row extends SeenRecord, DecidedRecord {
  stored: SerialisedRecord | null;
  /** Never stored, also not as deleted. */
  isNew: boolean;
}

/** Null: a record without an id. The walk reports it. */
function readRecords({ records }: Page, rules: Rules): SeenRecord[] | null {
  try {
    return seenRecords(records, rules);
  } catch (error) {
    if (error instanceof ChangefeedError && error.code === 'CF_PAGE_MALFORMED') return null;
    throw error;
  }
}

function decideRules(
  deps: ShortcutDeps,
  options: ShortcutOptions,
  { state: { lastSweep }, checkpoint }: ShortcutAnswer,
): DecideRules {
  const { rules, images = true } = options;
  const sweepId = checkpoint?.sweepId ?? lastSweep?.sweepId ?? '';
  return {
    rules,
    images,
    baseline: null,
    drifted: [...(checkpoint?.verdict?.fields ?? []), ...(lastSweep?.drifted ?? [])],
    // Without a previous sweep, a doubtful answer is never confirmed: only complete sweeps confirm it.
    observation: observationOf(deps, options, { checkpoint: { sweepId }, lastSweep: null }),
  };
}

interface DecidedPage {
  asked: ShortcutAnswer;
  seen: readonly SeenRecord[];
  found: Differences;
  rows: readonly Row[];
  createdBefore: ReadonlySet<string>;
}

/** What is certain, without what may be a change of the schema. */
async function acceptedOf(
  deps: ShortcutDeps,
  options: ShortcutOptions,
  { asked, seen, found, rows, createdBefore }: DecidedPage,
): Promise<Decided> {
  const { rules, list } = options;
  const { checkpoint, state, shortcut } = asked;
  const changes = rows.map((row, index) => ({ row, index })).filter(({ row: { write } }) => write?.event != null);
  if (changes.length === 0) return { accepted: [], left: 0 };
  const { schema, tracked } = asked.memory ?? (await readMemory(deps, list));
  const drifted = [...(checkpoint?.verdict?.fields ?? []), ...(state.lastSweep?.drifted ?? [])];
  const { edited } = checkpoint?.verdict ?? NO_VERDICT;
  const { moved, moving } = movesOnPage(seen, found, { rules, schema, tracked, drifted, edited });
  const members = new Set(await deps.store.members(list, shortcut.page));
  const elsewhere = await walkedElsewhere(deps, options, asked, rows);
  const isCertain = ({ record, stored, isNew, key }: Row): boolean => {
    if (stored === null) return !isRepeatedRow(key);
    const isHere = members.has(key) || createdBefore.has(key);
    // While the walk surveys the list, every change of a known record waits.
    if (isNew || stored.gone !== undefined || !isHere || elsewhere.has(key) || checkpoint?.survey !== undefined)
      return false;
    return asked.isLive || isNewer(record, stored, rules);
  };
  const accepted = changes.flatMap(({ row, index }): Accepted[] => {
    const { write, kind, isNew, key, record, characters, digest } = row;
    const isMoving = moved[index]?.some(({ field }) => moving.includes(field)) === true;
    if (write === null || isMoving || !isCertain(row)) return [];
    const delta: SchemaDelta = new Map();
    const before = row.stored === null ? null : talliedValueTypes(parseStored(row.stored), rules);
    addToDelta(delta, before, valueTypesOf(record, rules), tracked);
    return [{ key, record, characters, digest, write, kind, isNew, schema: delta }];
  });
  return { accepted, left: changes.length - accepted.length };
}

function isNewer(record: UncheckedRecord, stored: SerialisedRecord, { list }: Rules): boolean {
  return ageOf(modifiedAtOf(record, list), storedModifiedAt(parseStored(stored), list)) === 'newer';
}

/** The walk under way may have read more pages with other members than can be searched for every shortcut. */
const MOST_CHANGED_PAGES = 200;

/**
 * Records that the walk under way has seen on another page, or may have. Its next sweep may recognise that page by its bytes, and
 * would miss that a change committed here was undone.
 */
async function walkedElsewhere(
  { store }: ShortcutDeps,
  { list }: ShortcutOptions,
  { shortcut, checkpoint, memory }: ShortcutAnswer,
  rows: readonly Row[],
): Promise<ReadonlySet<string>> {
  if (checkpoint === null) return new Set();
  const known = rows.filter(({ isNew }) => !isNew).map(({ key }) => key);
  const walked = known.filter((key) => memory?.seen.has(key) !== false);
  if (walked.length === 0 || (checkpoint.changedPages ?? 0) > MOST_CHANGED_PAGES) return new Set(walked);
  const others = [...(await store.walkedMembers(list))].filter(([number]) => number !== shortcut.page);
  return new Set(others.flatMap(([, keys]) => keys));
}

/** The second of two equal rows without ids. Their number depends on where pages begin. */
function isRepeatedRow(key: string): boolean {
  return isKnownByContent(key) && /-\d+$/u.test(key);
}

async function readMemory(
  { store }: ShortcutDeps,
  list: ShortcutOptions['list'],
): Promise<Pick<SweepMemory, 'schema' | 'tracked'>> {
  const schema = await store.schema(list);
  return { schema, tracked: new TrackedFields(schema) };
}

const NOTHING = {
  created: [],
  rewritten: [],
  left: 0,
  counts: { created: 0, edited: 0, refreshed: 0 },
  events: [],
} satisfies Partial<ShownPage>;

function dropped(why: DropReason): ShortcutResult {
  return { outcome: 'dropped', why };
}

/**
 * The guard on new records, with the whole list as its measure: new records of this page, those that shortcuts created since the
 * last walk began, and those that the walk under way created. The walk keeps its own tally, because it counts each record when it
 * sees it.
 */
function isTooManyNew(
  options: ShortcutOptions,
  { state: { lastSweep }, checkpoint }: ShortcutAnswer,
  { freshOnPage, createdBefore }: { freshOnPage: number; createdBefore: number },
): boolean {
  if (freshOnPage === 0) return false;
  const guard = guardOf(options, lastSweep);
  const { allowed } = checkpoint?.verdict ?? NO_VERDICT;
  const fresh = guard.reported + (checkpoint?.fresh ?? 0) + createdBefore + freshOnPage;
  return isSuspicious({ seen: guard.before + fresh, fresh, allowed }, guard);
}

/** In parts, so that a script does not block Redis for long (page-parts.ts). Each part is complete by itself. */
async function commitAll(
  { store }: ShortcutDeps,
  { list, recordsPerPart }: ShortcutOptions,
  { token, page, accepted }: { token: FencingToken; page: number; accepted: readonly Accepted[] },
): Promise<void> {
  if (accepted.length === 0) return;
  for (const part of inParts(accepted, recordsPerPart)) {
    const commit = {
      token,
      writes: part.map(({ write }) => write),
      schema: sum(part.map(({ schema }) => schema)),
      createdByShortcut: part.filter(({ isNew }) => isNew).map(({ key }) => key),
      ...(part.some(({ isNew }) => !isNew) && { page: { number: page, stored: null } }),
    };
    expectCommitted(list, await store.commit(list, commit));
  }
}

function sum(deltas: readonly SchemaDelta[]): SchemaDelta {
  const total: SchemaDelta = new Map();
  for (const delta of deltas) for (const [name, by] of delta) total.set(name, (total.get(name) ?? 0) + by);
  return total;
}

function summarised({ accepted, left }: Decided): Omit<ShownPage, 'outcome' | 'keys' | 'nextCursor'> {
  const count = (kind: CountedKind): number => accepted.filter((one) => one.kind === kind).length;
  return {
    created: accepted.filter(({ isNew }) => isNew).map(({ key }) => key),
    rewritten: accepted.filter(({ isNew }) => !isNew).map(({ key }) => key),
    left,
    counts: { created: count('created'), edited: count('edited'), refreshed: count('refreshed') },
    events: accepted.flatMap(({ write }) => (write.event === null ? [] : [write.event])),
  };
}

/** The counts of a walk including what a shortcut committed while it is under way. */
export function withShortcut(counts: Checkpoint['counts'], found: ShownPage['counts']): SweepSummary['counts'] {
  const { created, edited, refreshed } = counts;
  return {
    ...counts,
    created: created + found.created,
    edited: edited + found.edited,
    refreshed: refreshed + found.refreshed,
  };
}
