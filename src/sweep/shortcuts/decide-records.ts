/**
 * Decides which records of a shortcut's page are committed: those that the walk would commit in the same way. The others are left to the walk,
 * because their decision needs the whole list.
 */
import { isKnownByContent } from '../../detect/identity.js';
import { fieldsThatStay, noDrift, type DriftTally } from '../../detect/schema-drift/drift.js';
import { TrackedFields, type SchemaDelta } from '../../detect/schema-drift/schema.js';
import { valueTypesOf } from '../../detect/stored-record.js';
import {
  classifyRecord,
  unusualMoves,
  type ClassifiedRecord,
  type ClassifyRecordOptions,
  type SeenRecord,
} from '../classify-record.js';
import type { CountedKind } from '../counts.js';
import { observationOf } from '../options.js';
import type { SweepMemory } from '../start-sweep.js';
import type { RecordWrite } from '../store.js';
import { isCertainlyNewer, type ComparedPage, type Differing } from './compare-page.js';
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
export async function decide(
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
    moved: page.differing.map((one) => unusualMoves(one, one.stored, context)),
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
