/**
 * Decides which records of a shortcut's page are committed: those that the walk would commit in the same way. The others are left to the walk,
 * because their decision needs the whole list.
 */
import { isKnownByContent } from '../../detect/identity.js';
import { addToDelta, TrackedFields, type SchemaDelta } from '../../detect/schema-drift/schema.js';
import { valueTypesOf } from '../../detect/stored-record.js';
import { decide, parseStored, talliedValueTypes, type DecideRules, type SeenRecord } from '../classify-record.js';
import type { CountedKind } from '../counts.js';
import { observationOf } from '../options.js';
import { movesOnPage } from '../page-moves.js';
import type { SweepMemory } from '../start-sweep.js';
import type { RecordWrite } from '../store.js';
import { isCertainlyNewer, type ComparedPage } from './compare-page.js';
import type { ShortcutAnswer, ShortcutDeps, ShortcutOptions } from './shortcut-page.js';

export interface Accepted extends SeenRecord {
  write: RecordWrite;
  kind: CountedKind;
  isNew: boolean;
  schema: SchemaDelta;
}

export interface Decided {
  accepted: Accepted[];
  left: number;
}

/** Null: a record shows earlier contents, so the page is as doubtful as with an older record. */
export async function decideRecords(
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
  const { rules } = options;
  const context = decideRules(deps, options, asked);
  const memory = asked.memory ?? (await readMemory(deps, options.list));
  const elsewhere = await walkedElsewhere(deps, options, { asked, page });
  const accepted: Accepted[] = [];
  const states = page.differing.map(({ stored }) => stored);
  const { drifted } = context;
  const { edited = [] } = asked.checkpoint?.verdict ?? {};
  const known = { rules, ...memory, drifted, edited };
  const { moved, moving } = movesOnPage(seen, { differing: page.differing, states }, known);
  for (const [index, one] of page.differing.entries()) {
    const { kind, write } = decide(one, one.stored, asked.askedAtMs, context);
    if (kind === 'stale') return null;
    // What may be a change of the schema is the walk's to decide. While it surveys the list, so is every change.
    const isOpen = asked.checkpoint?.survey !== undefined && !one.isNew;
    const isOrdinary = COMMITTED.has(kind) && moved[index]?.every(({ field }) => !moving.includes(field)) !== false;
    const isHere = one.isNew ? !isRepeatedRow(one.key) : page.members.has(one.key) || createdBefore.has(one.key);
    const isKeptBack = isOpen || elsewhere.has(one.key);
    const isUnsure = isDoubtful && !isCertainlyNewer(one, rules);
    if (write === null || !isOrdinary || !isHere || isKeptBack || isUnsure) continue;
    const schema: SchemaDelta = new Map();
    const before = talliedValueTypes(parseStored(one.stored), rules);
    addToDelta(schema, before, valueTypesOf(one.record, rules), memory.tracked);
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

async function readMemory(
  { store }: ShortcutDeps,
  list: ShortcutOptions['list'],
): Promise<Pick<SweepMemory, 'schema' | 'tracked'>> {
  const schema = await store.schema(list);
  return { schema, tracked: new TrackedFields(schema) };
}
