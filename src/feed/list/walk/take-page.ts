/**
 * Reads and classifies one page of a walk. This file must not know HTTP or Redis. A page with the bytes of the
 * last complete sweep is skipped. This is sound: a digest is kept only while every record is stored as shown; what
 * writes one otherwise forgets the page in the same commit, or when the sweep is finished.
 */
import { isUnchanged, type Page } from '../../api/read-api.js';
import type { VisitedCursors } from '../../api/visited-cursors.js';
import type { ListName } from '../../../crm/lists/lists.js';
import { openRecords, type OpenRecords } from '../../detect/open.js';
import { MOST_FIELDS } from '../../detect/schema-drift/schema.js';
import type { SurveyQuestion } from '../../detect/survey.js';
import { ChangefeedError } from '../../../kit/errors.js';
import { classifyPage, type ClassifiedPage } from '../classify/classify-page.js';
import { expectCommitted, incompleteSweep } from '../errors.js';
import { guardOf } from '../guards/guard-creations.js';
import type { SweepMemory } from '../memory.js';
import { observationOf, type SweepDeps, type SweepOptions } from '../options.js';
import type { ReadAhead, ReadPage } from './read-ahead.js';
import {
  NOT_RECOGNISED,
  type Checkpoint,
  type FencingToken,
  type Step,
  type StoredPage,
  type SweepCounts,
  type SweepSummary,
} from '../../store/sweep-state.js';
import type { WalkShortcuts } from './walk-shortcuts.js';

interface Skipping {
  checkpoint: Checkpoint;
  lastSweep: SweepSummary | null;
}

export interface Position extends Skipping {
  visited: VisitedCursors;
  ahead: ReadAhead;
  token: FencingToken;
  memory: SweepMemory;
  shortcuts: WalkShortcuts;
}

export type TakenPage =
  | {
      /** `unchanged`: nothing is written for it. */
      outcome: 'classified' | 'unchanged';
      changes: Pick<Step, 'writes' | 'schema' | 'members' | 'page'>;
      reached: Partial<Checkpoint>;
      nextCursor: string | null;
      /** It was asked for by the cursor that the last complete sweep had used. */
      isKept: boolean;
      open: OpenRecords;
      /** Records of a page that does not say that the list ends there, or 0. Unchanged: that of the longest. */
      length: number;
    }
  | { outcome: 'survey'; question: SurveyQuestion };

/** Reads and classifies the next page. Any failure ends the sweep as incomplete, with nothing of the page written. */
export async function takePage(
  deps: SweepDeps,
  options: SweepOptions,
  { answer: reading, ...position }: Position & { answer: Promise<ReadPage> },
): Promise<TakenPage> {
  const { checkpoint, visited, token, memory } = position;
  const { list, signal } = options;
  const { cursor } = checkpoint;
  const page = checkpoint.pages + 1;
  try {
    const { fetched, known, askedAtMs } = await reading;
    const isKept = known !== null && cursor !== null;
    if (!isUnchanged(fetched))
      return await takeDifferent(deps, options, { ...position, answer: fetched, askedAtMs, isKept });
    if (known !== null && known.digest !== NOT_RECOGNISED && mayBeSkipped(position)) {
      const nextCursor = visited.checkKnown(list, known);
      memory.skipped = true;
      return {
        outcome: 'unchanged',
        changes: { writes: [] },
        reached: { counts: withUnchanged(checkpoint.counts, known.records) },
        nextCursor,
        isKept,
        open: known.open ?? [],
        length: position.lastSweep?.longestPage ?? 0,
      };
    }
    const answer = await deps.api.fetchPage(list, { cursor, page, signal });
    return await takeDifferent(deps, options, { ...position, answer, askedAtMs: null, isKept });
  } catch (cause) {
    signal?.throwIfAborted();
    if (cause instanceof ChangefeedError && ['CF_LEASE_LOST', 'CF_STATE_LOST'].includes(cause.code)) throw cause;
    const restart = mustRestart(cause, checkpoint.cursor);
    if (restart) expectCommitted(list, await deps.store.abandon(list, token));
    else await commitSkipped(deps, list, position);
    const { sweepId } = checkpoint;
    throw incompleteSweep({ workspace: deps.workspace, list, sweepId, page, resumes: !restart, cause });
  }
}

/** A baseline stores every record again. */
export function mayBeSkipped({ checkpoint: { mode }, lastSweep }: Skipping): boolean {
  return mode === 'changes' && lastSweep !== null;
}

function withUnchanged(counts: SweepCounts, records: number): SweepCounts {
  return { ...counts, seen: counts.seen + records, unchanged: counts.unchanged + records };
}

/** So that the next sweep resumes at the page that failed. Without it, that sweep reads the skipped pages once more. */
async function commitSkipped(
  { store }: SweepDeps,
  list: ListName,
  { checkpoint, visited, token }: Position,
): Promise<void> {
  const followed = visited.takeFollowed();
  // Without the next cursor of the page that failed.
  const cursors = followed.slice(0, followed.indexOf(checkpoint.cursor ?? '') + 1);
  if (cursors.length === 0) return;
  // If Redis is the reason that the page failed, this fails too, and the first reason is reported.
  await store.commit(list, { token, checkpoint, writes: [], cursors }).catch(() => undefined);
}

async function takeDifferent(
  deps: SweepDeps,
  options: SweepOptions,
  { answer, askedAtMs, isKept, ...position }: Position & { answer: Page; askedAtMs: number | null; isKept: boolean },
): Promise<TakenPage> {
  const { checkpoint, visited, ahead, memory } = position;
  const { cursor } = checkpoint;
  const number = checkpoint.pages + 1;
  const nextCursor = visited.check(answer, cursor);
  // A record added during the sweep moves the last ones of the page before to this page.
  if (memory.skipped)
    for (const key of (await deps.store.members(options.list, number - 1)) ?? [])
      if (!memory.seen.has(key)) memory.seen.set(key, number - 1);
  memory.skipped = false;
  const { digest } = answer;
  if (nextCursor !== null) ahead.expect({ page: number + 1, cursor: nextCursor });
  const classified = await classify(deps, options, { ...position, answer, askedAtMs });
  if (classified.outcome !== 'classified') return classified;
  const { changes, members, reached, settled, keys } = classified;
  const firstPage = cursor === null ? visited.firstPage : null;
  const open = openRecords(answer.records, options.rules.list);
  const stored: StoredPage = {
    ...{ cursor, nextCursor, firstPage, records: keys.length },
    digest: settled && digest !== undefined ? digest : NOT_RECOGNISED,
    ...(!options.rules.images && { rules: options.rules.tag }),
    ...(open.length > 0 && { open }),
  };
  const { writes, schema } = changes;
  return {
    outcome: 'classified',
    changes: { writes, schema, members, page: { number, stored } },
    reached,
    nextCursor,
    isKept,
    open,
    length: answer.saysEnd === true ? 0 : keys.length,
  };
}

/** A cursor loop, or a cursor that the API no longer accepts, cannot be resumed. */
function mustRestart(error: unknown, cursor: string | null): boolean {
  if (!(error instanceof ChangefeedError)) return false;
  return error.code === 'CF_CURSOR_LOOP' || (error.code === 'CF_REQUEST_REFUSED' && cursor !== null);
}

async function classify(
  deps: SweepDeps,
  options: SweepOptions,
  { answer, askedAtMs, checkpoint, memory, lastSweep }: Position & { answer: Page; askedAtMs: number | null },
): Promise<ClassifiedPage> {
  const { store, workspace, log } = deps;
  const { list, rules, baseline } = options;
  const { sweepId, mode, quiet, verdict, pages } = checkpoint;
  const classified = await classifyPage(store, {
    asked: { by: 'walk' },
    page: pages + 1,
    records: answer.records,
    unreadable: answer.unreadable ?? [],
    askedAtMs,
    checkpoint,
    memory,
    rules,
    baseline: mode !== 'baseline' ? null : quiet === true ? 'quiet' : baseline,
    drifted: [...(verdict?.fields ?? []), ...(lastSweep?.drifted ?? [])],
    guard: mode === 'baseline' ? null : guardOf(options, lastSweep),
    observation: observationOf(deps, options, checkpoint),
  });
  if (memory.tracked.justFilled()) log.warn({ workspace, list, tracked: MOST_FIELDS, sweepId }, TOO_MANY_FIELDS);
  return classified;
}

const TOO_MANY_FIELDS =
  'too many field names: further ones are compared, but left out of "changefeed schema" and of schema changes';
