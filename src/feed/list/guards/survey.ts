/**
 * Reads a whole list without a commit, for what single pages cannot answer (`detect/survey.ts`). The walk that follows
 * commits the verdict with its checkpoint. After a crash before that, the walk resumes and meets the question again.
 */
import { createVisitedCursors } from '../../api/visited-cursors.js';
import type { Page } from '../../api/read-api.js';
import { isPresent } from '../../detect/removal.js';
import { schemaEvent } from '../../detect/schema-drift/drift.js';
import { storedValueTypes, valueTypesOf } from '../../detect/stored-record.js';
import { NO_VERDICT, Survey, type SurveyQuestion, type Verdict } from '../../detect/survey.js';
import { nextSequence } from '../../../events/epoch.js';
import type { SchemaChange } from '../../../events/types.js';
import { incompleteSweep } from '../errors.js';
import { afterHeld, guardOf } from './guard-creations.js';
import type { SweepMemory } from '../memory.js';
import { observationOf, type PageToRead, type SweepDeps, type SweepOptions } from '../options.js';
import { readDiffering, readSeen } from '../records.js';
import type { Checkpoint, Step, SweepSummary } from '../../store/sweep-state.js';

export interface SurveyPosition {
  checkpoint: Checkpoint;
  lastSweep: SweepSummary | null;
  memory: SweepMemory;
  /** Requests a page, and uses the shortcuts of the list until it is read. */
  read: (wanted: PageToRead, checkpoint: Checkpoint) => Promise<{ answer: Promise<Page>; checkpoint: Checkpoint }>;
}

export interface Surveyed {
  verdict: Verdict;
  changes: SchemaChange[];
  /** Includes what shortcuts found meanwhile. */
  checkpoint: Checkpoint;
}

/** @throws ChangefeedError CF_SWEEP_INCOMPLETE when a page could not be read; the walk resumes at its checkpoint */
export async function surveyList(
  deps: SweepDeps,
  options: SweepOptions,
  { question, read, ...position }: SurveyPosition & { question: SurveyQuestion },
): Promise<Surveyed> {
  const { workspace, log } = deps;
  const { list, rules, signal } = options;
  const { lastSweep, memory } = position;
  const { verdict: before = NO_VERDICT, sweepId } = position.checkpoint;
  log.info({ workspace, list, about: question.about, sweepId }, 'the list is surveyed before more of it is committed');
  const drifted = [...before.fields, ...(lastSweep?.drifted ?? [])];
  const guard = guardOf(options, lastSweep);
  const survey = new Survey({ question, moves: { rules, ...memory, drifted }, guard, before });
  const reported = guard.reported + (position.checkpoint.fresh ?? 0);
  let checkpoint: Checkpoint = { ...position.checkpoint, survey: question.about };
  const visited = createVisitedCursors({ firstPage: null, cursors: [], lastPages: lastSweep?.pages });
  const keys = new Set<string>();
  let cursor: string | null = null;
  for (let page = 1; ; page += 1) {
    const reading = await read({ page, cursor }, checkpoint);
    checkpoint = reading.checkpoint;
    const fetched = await reading.answer.catch((cause: unknown) => {
      signal?.throwIfAborted();
      throw incompleteSweep({ workspace, list, sweepId, page, resumes: true, cause });
    });
    cursor = visited.check(fetched, cursor);
    await count(deps, options, { fetched, keys, survey, memory });
    if (cursor === null || survey.isDecided(reported)) break;
  }
  const { survey: _, ...reached } = checkpoint;
  const { at } = await afterHeld(deps, list, lastSweep);
  return { ...survey.decide({ reported, at }), checkpoint: reached };
}

async function count(
  { store }: SweepDeps,
  { list, rules }: SweepOptions,
  { fetched, keys, survey, memory }: { fetched: Page; keys: Set<string>; survey: Survey; memory: SweepMemory },
): Promise<void> {
  const seen = await readSeen(store, fetched.records, rules);
  const rows = seen.filter(({ key }) => !keys.has(key));
  const differing = new Map((await readDiffering(store, list, rows)).map((row) => [row.key, row.stored]));
  for (const { key, record, storedDigest } of rows) {
    keys.add(key);
    if (isPresent(storedDigest)) {
      const known = differing.get(key) ?? null;
      const types = valueTypesOf(record, rules);
      survey.isKnown(types, known === null ? types : storedValueTypes(known, record, { rules, schema: memory.schema }));
    } else survey.isNew();
  }
}

export async function commitOfVerdict(
  deps: SweepDeps,
  options: SweepOptions,
  { changes, checkpoint }: Pick<Surveyed, 'changes' | 'checkpoint'>,
): Promise<Omit<Step, 'token'>> {
  const { list, rules } = options;
  const fields = changes.map(({ field }) => field);
  const observation = observationOf(deps, options, checkpoint);
  const stored = await deps.store.schemaSequences(list, fields);
  const sequences = stored.map((sequence) => nextSequence(sequence, observation));
  return {
    checkpoint,
    writes: [],
    events: changes.map((change, index) =>
      schemaEvent(change, { rules, observation, sequence: sequences[index] ?? 1 }),
    ),
    schemaSequences: fields.map((field, index) => [field, sequences[index] ?? 1] as const),
  };
}
