/**
 * Counts a whole list, for what single pages cannot answer (`detect/survey.ts`). The walk that follows commits the verdict with
 * its checkpoint. After a crash before that, the walk resumes and meets the question again.
 */
import { createVisitedCursors } from '../api/visited-cursors.js';
import type { Page } from '../api/read-api.js';
import { hasUnreadable } from '../api/unreadable.js';
import { isKnown, isStored } from '../detect/record-state.js';
import { schemaEvent } from '../detect/schema-drift/drift.js';
import { valueTypesOf } from '../detect/schema-drift/schema.js';
import { isOfOtherMasks } from '../detect/stored-record.js';
import { Survey, type SurveyQuestion } from '../detect/survey.js';
import { nextSequence } from '../../events/envelope.js';
import type { SchemaChange } from '../../events/types.js';
import { afterHeld, guardOf, reportedNew } from './creations.js';
import type { FeedList } from './list.js';
import { readDiffering, readSeen } from './records.js';
import { noCounts } from '../store/sweep-state.js';

/** Nothing of the page that asked was committed. The list is counted from its first page. */
export function beginSurvey(list: FeedList, question: SurveyQuestion): void {
  const { workspace, log } = list.deps;
  const { sweepId } = list.checkpoint;
  const { about } = question;
  log.info({ workspace, list: list.name, about, sweepId }, 'the list is surveyed before more of it is committed');
  const { rules, schema, tracked, drifted, verdict: before } = list;
  const guard = guardOf(list);
  list.survey = {
    about,
    counts: new Survey({ question, moves: { rules, schema, tracked, drifted }, guard, before }),
    reported: reportedNew(list),
    visited: createVisitedCursors({ firstPage: null, cursors: [] }),
    keys: new Set(),
    next: { page: 1, cursor: null },
  };
  list.readAhead();
}

/** Counts the rows of a page that no page before has shown. */
/** @throws ChangefeedError CF_CURSOR_LOOP */
export async function countPage(list: FeedList, page: Page): Promise<void> {
  const { survey, rules } = list;
  if (survey === null) return;
  const { counts, keys, visited } = survey;
  const rows = (await readSeen(list, page)).filter(({ key }) => !keys.has(key));
  if (page.nextCursor !== null) visited.shown(list.name, rows.length > 0 || hasUnreadable(page));
  const differing = new Map((await readDiffering(list, rows)).map((row) => [row.key, row]));
  for (const { key, record, storedDigest } of rows) {
    keys.add(key);
    if (!isKnown(storedDigest)) {
      counts.countNew();
      continue;
    }
    const { stored = null, moves } = differing.get(key) ?? {};
    const isComparable = isStored(stored) && !isOfOtherMasks(stored, rules);
    counts.countKnown(valueTypesOf(record, rules), isComparable ? moves : []);
  }
}

/** The page was counted. With the last one, or as soon as the answer is known, another walk begins with the verdict. */
export async function continueSurvey(list: FeedList, nextCursor: string | null): Promise<void> {
  const { survey } = list;
  if (survey === null) return;
  const { counts, reported, next } = survey;
  if (nextCursor !== null && !counts.isDecided(reported)) {
    survey.next = { page: next.page + 1, cursor: nextCursor };
    return;
  }
  const { workspace, log } = list.deps;
  const { at } = await afterHeld(list);
  const { verdict, changes } = counts.decide({ reported, at });
  const { sweepId, counts: so } = list.checkpoint;
  const facts = { workspace, list: list.name, fields: changes.length, held: verdict.heldSince !== null, sweepId };
  log[changes.length > 0 ? 'warn' : 'info'](facts, changes.length > 0 ? 'schema changed' : 'survey complete');
  await list.abandon();
  // What was reported so far stays counted.
  const { created, edited, refreshed } = so;
  await list.beginWalk(verdict, { ...noCounts(), created, edited, refreshed });
  await commitVerdict(list, changes);
}

async function commitVerdict(list: FeedList, changes: readonly SchemaChange[]): Promise<void> {
  const { rules, checkpoint } = list;
  const fields = changes.map(({ field }) => field);
  const observation = list.observation();
  const stored = await list.deps.store.schemaSequences(list.name, fields);
  const sequences = stored.map((sequence) => nextSequence(sequence, observation));
  const events = changes.map((change, index) =>
    schemaEvent(change, { rules, observation, sequence: sequences[index] ?? 1 }),
  );
  const schemaSequences = fields.map((field, index) => [field, sequences[index] ?? 1] as const);
  await list.commit({ checkpoint, writes: [], events, schemaSequences, drifted: list.newlyDrifted });
}
