/**
 * Commits what a page that was read outside the order of a walk shows for certain. A shortcut may help or be useless, but it must
 * not make anything wrong, so a page is dropped as a whole when anything on it suggests an older state, another list, or too many
 * new records, and a record is left to the walk when its decision needs the whole list. What is committed is what the walk would
 * commit: the same classification, the same event ids, under the same lease.
 */
import type { Page } from '../../api/read-api.js';
import { decideCreations } from '../../detect/creation.js';
import { isKnownByContent } from '../../detect/identity.js';
import { fieldsThatStay, noDrift, type DriftTally } from '../../detect/schema-drift/drift.js';
import { TrackedFields, type SchemaDelta } from '../../detect/schema-drift/schema.js';
import { valueTypesOf } from '../../detect/stored-record.js';
import type { ChangeEvent } from '../../events/types.js';
import {
  classifyRecord,
  type ClassifiedRecord,
  type ClassifyRecordOptions,
  type SeenRecord,
} from '../classify-record.js';
import type { CountedKind } from '../counts.js';
import { expectCommitted } from '../errors.js';
import { guardOf } from '../guard-creations.js';
import { observationOf, type SweepDeps, type SweepOptions } from '../options.js';
import { inParts } from '../page-parts.js';
import { isSameSource, type SweepMemory } from '../start-sweep.js';
import type { Checkpoint, FencingToken, ListState, RecordWrite, SweepStore, SweepSummary } from '../store.js';
import {
  comparePage,
  isCertainlyNewer,
  readRecords,
  showsRecentChange,
  whyDoubtful,
  type ComparedPage,
  type Differing,
} from './compare-page.js';
import type { ShortcutStore } from './store.js';

export interface ShortcutPage {
  kind: 'tail' | 'aimed';
  /** The number that the page had in the last complete sweep, or would have behind its last page. */
  page: number;
  cursor: string | null;
  /** The records to be found on the page. Empty for `tail`. */
  ids: readonly string[];
  /**
   * Its cursor was kept for so long that the server may answer with the page as it was. Only what is certainly newer is committed,
   * unless the page shows that it is not old.
   */
  doubtful?: true;
  /** The page follows one that overlapped with the known records, so it may show new records only. */
  follows?: true;
}

export interface ShortcutDeps extends Omit<SweepDeps, 'api' | 'store'> {
  store: Pick<SweepStore, 'digests' | 'records' | 'members' | 'walkedMembers' | 'schema' | 'quarantinedKeys'> &
    Pick<ShortcutStore, 'commitShortcut' | 'createdByShortcuts'>;
}

export type ShortcutOptions = Pick<
  SweepOptions,
  'list' | 'rules' | 'images' | 'creations' | 'epoch' | 'recordsPerPart'
>;

export interface ShortcutAnswer {
  shortcut: ShortcutPage;
  answer: Page;
  /** When the request was sent, ms since the epoch. */
  askedAtMs: number;
  /** Keys of records that this process has committed since. */
  overtaken?: ReadonlySet<string> | undefined;
  token: FencingToken;
  state: ListState;
  /** Of the walk under way; null between two walks. */
  checkpoint: Checkpoint | null;
  /** Of the walk under way; null: read from the store where it is needed. */
  memory: SweepMemory | null;
}

/**
 * - `no baseline`, `source`, `held`, `finishing`: the state of the list does not allow shortcuts now.
 * - `malformed`: a record without an id.
 * - `no overlap`: no record of the page is known.
 * - `lagging`: a record is older than its stored record, or shows earlier contents.
 * - `overtaken`: a record was committed after this page was requested.
 * - `too many new`: the guard on new records decides about a whole list.
 */
export type DropReason =
  | 'no baseline'
  | 'source'
  | 'held'
  | 'finishing'
  | 'malformed'
  | 'no overlap'
  | 'lagging'
  | 'overtaken'
  | 'too many new';

export type ShortcutResult = { outcome: 'dropped'; why: DropReason } | ShownPage;

/** What a page showed, and what was committed of it. */
export interface ShownPage {
  outcome: 'shown';
  /** Keys of its records. */
  keys: readonly string[];
  nextCursor: string | null;
  /** A record of the page was known before. */
  overlaps: boolean;
  /** A record was changed so recently that no kept cursor can lead to an old answer with it. */
  isLive: boolean;
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
  const { creations, counts } = checkpoint ?? {};
  const isWithholding = creations?.withholds === true || creations?.held !== undefined || (counts?.withheld ?? 0) > 0;
  return isWithholding || lastSweep.heldCreations !== undefined ? 'held' : null;
}

/** @throws ChangefeedError CF_LEASE_LOST, CF_STATE_LOST */
export async function commitShortcut(
  deps: ShortcutDeps,
  options: ShortcutOptions,
  asked: ShortcutAnswer,
): Promise<ShortcutResult> {
  const { shortcut, answer, state, checkpoint } = asked;
  const off = whyNoShortcut(state, checkpoint, deps.source);
  if (off !== null) return dropped(off);
  const seen = readRecords(answer, options.rules);
  if (seen === null) return dropped('malformed');
  const page = await comparePage(deps.store, options.list, { seen, page: shortcut.page });
  const { overlaps, differing } = page;
  if (!overlaps && seen.length > 0 && shortcut.follows !== true) return dropped('no overlap');
  const keys = seen.map(({ key }) => key);
  const isLive = showsRecentChange(seen, options.rules, asked.askedAtMs);
  const shown = { outcome: 'shown', keys, nextCursor: answer.nextCursor, overlaps, isLive } as const;
  if (differing.length === 0) return { ...shown, ...NOTHING };
  const doubt = whyDoubtful(differing, options.rules, asked);
  if (doubt !== null) return dropped(doubt);
  const createdBefore = await deps.store.createdByShortcuts(options.list);
  if (isTooManyNew(options, asked, { differing, createdBefore: createdBefore.length })) return dropped('too many new');
  const isDoubtful = shortcut.doubtful === true && !isLive;
  const decided = await decide(deps, options, { asked, seen, page, isDoubtful, createdBefore: new Set(createdBefore) });
  if (decided === null) return dropped('lagging');
  await commitAll(deps, options, { token: asked.token, page: shortcut.page, accepted: decided.accepted });
  return { ...shown, ...summarised(decided) };
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
  { differing, createdBefore }: { differing: readonly Differing[]; createdBefore: number },
): boolean {
  const freshOnPage = differing.filter(({ isNew }) => isNew).length;
  if (freshOnPage === 0) return false;
  const guard = guardOf(options, lastSweep);
  const { fresh: freshInWalk = 0, allowed = 0 } = checkpoint?.creations ?? {};
  const fresh = freshInWalk + createdBefore + freshOnPage;
  const seen = guard.before + fresh;
  const so = { tally: { fresh, allowed }, seen, withheld: 0, freshOnPage, ended: false };
  return decideCreations(so, guard) !== 'report';
}

interface Accepted extends SeenRecord {
  write: RecordWrite;
  kind: CountedKind;
  isNew: boolean;
  schema: SchemaDelta;
}

interface Decided {
  accepted: Accepted[];
  left: number;
}

/** Null: a record shows earlier contents, so the page is as doubtful as with an older record. */
async function decide(
  deps: ShortcutDeps,
  options: ShortcutOptions,
  {
    asked,
    seen,
    page,
    isDoubtful,
    createdBefore,
  }: {
    asked: ShortcutAnswer;
    seen: readonly SeenRecord[];
    page: ComparedPage;
    isDoubtful: boolean;
    createdBefore: ReadonlySet<string>;
  },
): Promise<Decided | null> {
  const context = await classifyContext(deps, options, asked);
  const elsewhere = await walkedElsewhere(deps, options, { asked, page });
  const accepted: Accepted[] = [];
  const classify = (one: Differing, drift: DriftTally): ClassifiedRecord & { schema: SchemaDelta } => {
    const schema: SchemaDelta = new Map();
    return { ...classifyRecord(one, one.stored, { ...context, drift, schemaDelta: schema }), schema };
  };
  const drift = fieldsThatStay(context.drift, {
    moved: page.differing.map((one) => classify(one, context.drift).drift),
    shown: seen.map(({ record }) => valueTypesOf(record, options.rules)),
  });
  for (const one of page.differing) {
    const { kind, write, drift: after, schema } = classify(one, drift);
    if (kind === 'stale') return null;
    // A move that may be drift is the walk's to count.
    const isOrdinary = COMMITTED.has(kind) && after.fields === drift.fields;
    const isHere = one.isNew ? !isRepeatedRow(one.key) : page.members.has(one.key) || createdBefore.has(one.key);
    const isKeptBack = context.memory.quarantined.has(one.key) || elsewhere.has(one.key);
    const isUnsure = isDoubtful && !isCertainlyNewer(one, options.rules);
    if (write === null || !isOrdinary || !isHere || isKeptBack || isUnsure) continue;
    accepted.push({ ...one, write, kind, schema });
  }
  return { accepted, left: page.differing.length - accepted.length };
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
  { asked: { shortcut, checkpoint, memory }, page }: { asked: ShortcutAnswer; page: ComparedPage },
): Promise<ReadonlySet<string>> {
  if (checkpoint === null) return new Set();
  const known = page.differing.filter(({ isNew }) => !isNew).map(({ key }) => key);
  const walked = known.filter((key) => memory?.seen.has(key) !== false);
  if (walked.length === 0 || (checkpoint.changedPages ?? 0) > MOST_CHANGED_PAGES) return new Set(walked);
  const others = [...(await store.walkedMembers(list))].filter(([number]) => number !== shortcut.page);
  return new Set(others.flatMap(([, keys]) => keys));
}

const COMMITTED: ReadonlySet<CountedKind> = new Set(['created', 'edited', 'refreshed', 'touched', 'ignored']);

/** The second of two equal rows without ids. Their number depends on where pages begin. */
function isRepeatedRow(key: string): boolean {
  return isKnownByContent(key) && /-\d+$/u.test(key);
}

async function classifyContext(
  deps: ShortcutDeps,
  options: ShortcutOptions,
  { state: { lastSweep }, checkpoint, memory }: ShortcutAnswer,
): Promise<Omit<ClassifyRecordOptions, 'schemaDelta'>> {
  const { rules, images = true, list } = options;
  const sweepId = checkpoint?.sweepId ?? lastSweep?.sweepId ?? '';
  return {
    rules,
    images,
    baseline: null,
    past: lastSweep?.drifted ?? [],
    // Without a previous sweep, a doubtful answer is never confirmed: only complete sweeps confirm it.
    observation: observationOf(deps, options, { checkpoint: { sweepId }, lastSweep: null }),
    memory: memory ?? (await readMemory(deps, list)),
    drift: checkpoint?.drift ?? noDrift(lastSweep ?? {}),
    again: false,
    withholds: false,
  };
}

async function readMemory({ store }: ShortcutDeps, list: ShortcutOptions['list']): Promise<SweepMemory> {
  const [schema, quarantined] = await Promise.all([store.schema(list), store.quarantinedKeys(list)]);
  return {
    schema,
    tracked: new TrackedFields(schema),
    seen: new Set(),
    skipped: false,
    partly: new Set(),
    quarantined: new Set(quarantined),
    hasUnconfirmed: false,
  };
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
      created: part.filter(({ isNew }) => isNew).map(({ key }) => key),
      forget: part.every(({ isNew }) => isNew) ? null : page,
    };
    expectCommitted(list, await store.commitShortcut(list, commit));
  }
}

function sum(deltas: readonly SchemaDelta[]): SchemaDelta {
  const total: SchemaDelta = new Map();
  for (const delta of deltas) for (const [name, by] of delta) total.set(name, (total.get(name) ?? 0) + by);
  return total;
}

function summarised({
  accepted,
  left,
}: Decided): Omit<ShownPage, 'outcome' | 'keys' | 'nextCursor' | 'overlaps' | 'isLive'> {
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
