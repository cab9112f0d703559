/**
 * Reads a list from its first page to its end without committing anything, to answer what single pages cannot (`detect/survey.ts`). The
 * walk that follows begins with the verdict, which is committed with its checkpoint and with one event per drifted field. After a
 * crash before that commit, the walk resumes where it was and meets the question again.
 */
import { createVisitedCursors } from '../../api/visited-cursors.js';
import type { Page } from '../../api/read-api.js';
import { isPresent } from '../../detect/removal.js';
import { schemaEvent } from '../../detect/schema-drift/drift.js';
import { storedValueTypes, valueTypesOf } from '../../detect/stored-record.js';
import { NO_VERDICT, Survey, type SurveyQuestion, type Verdict } from '../../detect/survey.js';
import type { SchemaChange } from '../../events/types.js';
import { isoTime } from '../../runtime/clock.js';
import { parseStored } from '../classify/classify-record.js';
import { seenRecords } from '../classify/classify-page.js';
import { incompleteSweep } from '../errors.js';
import { guardOf } from './guard-creations.js';
import { observationOf, type SweepDeps, type SweepOptions } from '../options.js';
import type { ReadAhead } from '../walk/read-ahead.js';
import type { SweepMemory } from '../walk/start-sweep.js';
import type { Checkpoint, Step, SweepSummary } from '../store.js';

export interface SurveyPosition {
  checkpoint: Checkpoint;
  lastSweep: SweepSummary | null;
  memory: Pick<SweepMemory, 'schema' | 'tracked'>;
  ahead: Pick<ReadAhead, 'read' | 'close'>;
  /** Uses the shortcuts of the list until the page is read. */
  during: (
    reading: { page: number; cursor: string | null; answer: Promise<unknown> },
    checkpoint: Checkpoint,
  ) => Promise<Checkpoint>;
}

export interface Surveyed {
  verdict: Verdict;
  changes: SchemaChange[];
  /** With what shortcuts found meanwhile. */
  checkpoint: Checkpoint;
}

/** @throws ChangefeedError CF_SWEEP_INCOMPLETE when a page could not be read; the walk resumes at its checkpoint */
export async function surveyList(
  deps: SweepDeps,
  options: SweepOptions,
  { question, ...position }: SurveyPosition & { question: SurveyQuestion },
): Promise<Surveyed> {
  const { workspace, log, clock } = deps;
  const { list, rules } = options;
  const { lastSweep, memory, ahead } = position;
  const { verdict: before = NO_VERDICT, sweepId } = position.checkpoint;
  log.info({ workspace, list, about: question.about, sweepId }, 'the list is surveyed before more of it is committed');
  const drifted = [...before.fields, ...(lastSweep?.drifted ?? [])];
  const guard = guardOf(options, lastSweep);
  const survey = new Survey({ question, moves: { rules, ...memory, drifted }, guard, before });
  const reported = guard.reported + (position.checkpoint.fresh ?? 0);
  let checkpoint: Checkpoint = { ...position.checkpoint, survey: question.about };
  const visited = createVisitedCursors({ firstPage: null, cursors: [] });
  const keys = new Set<string>();
  let cursor: string | null = null;
  try {
    for (let page = 1; ; page += 1) {
      const answer = ahead.read({ page, cursor });
      checkpoint = await position.during({ page, cursor, answer }, checkpoint);
      const { fetched } = await readPage(deps, options, { answer, page });
      visited.check(fetched, cursor);
      await count(deps, options, { fetched, keys, survey });
      cursor = fetched.nextCursor;
      if (cursor === null || survey.isDecided(reported)) break;
    }
  } finally {
    ahead.close();
  }
  const { survey: _, ...reached } = checkpoint;
  return { ...survey.decide({ reported, at: isoTime(clock.now()) }), checkpoint: reached };
}

async function readPage(
  { workspace }: SweepDeps,
  { list, signal }: SweepOptions,
  { answer, page }: { answer: ReturnType<ReadAhead['read']>; page: number },
): Promise<{ fetched: Page }> {
  try {
    // A survey knows no digests, so every page is answered in full.
    return (await answer) as { fetched: Page };
  } catch (cause) {
    signal?.throwIfAborted();
    throw incompleteSweep({ workspace, list, page, resumes: true, cause });
  }
}

async function count(
  { store }: SweepDeps,
  { list, rules }: SweepOptions,
  { fetched, keys, survey }: { fetched: Page; keys: Set<string>; survey: Survey },
): Promise<void> {
  const rows = seenRecords(fetched.records, rules).filter(({ key }) => !keys.has(key));
  const digests = await store.digests(
    list,
    rows.map(({ key }) => key),
  );
  const differing = rows.flatMap(({ key, digest }, index) => (digests[index] === digest ? [] : [key]));
  const states = await store.records(list, differing);
  const stored = new Map(differing.map((key, index) => [key, states[index] ?? null]));
  rows.forEach(({ key, record }, index) => {
    keys.add(key);
    if (!isPresent(digests[index])) {
      survey.isNew();
      return;
    }
    const known = parseStored(stored.get(key) ?? null);
    const types = valueTypesOf(record, rules);
    survey.isKnown(types, known === null ? types : storedValueTypes(known, rules));
  });
}

/** What a verdict commits: the checkpoint of the walk that follows, and one event per drifted field. */
export async function commitOfVerdict(
  deps: SweepDeps,
  options: SweepOptions,
  { changes, checkpoint, lastSweep }: Pick<Surveyed, 'changes' | 'checkpoint'> & { lastSweep: SweepSummary | null },
): Promise<Omit<Step, 'token'>> {
  const { list, rules } = options;
  const fields = changes.map(({ field }) => field);
  const sequences = (await deps.store.schemaSequences(list, fields)).map((sequence) => sequence + 1);
  const observation = observationOf(deps, options, { checkpoint, lastSweep });
  return {
    checkpoint,
    writes: [],
    events: changes.map((change, index) =>
      schemaEvent(change, { rules, observation, sequence: sequences[index] ?? 1 }),
    ),
    schemaSequences: fields.map((field, index) => [field, sequences[index] ?? 1] as const),
  };
}
