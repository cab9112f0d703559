/**
 * Takes one answer, of the walk or of a shortcut: compares its page, decides, and says what is to be committed. Writes nothing
 * itself. A page with the bytes of the last complete sweep is skipped. This is sound: a digest is kept only while every record is
 * stored as shown; what writes one otherwise forgets the page in the same commit, or when the sweep is finished.
 */
import type { Page } from '../api/read-api.js';
import { hasUnreadable } from '../api/unreadable.js';
import { heldOf } from '../detect/held.js';
import { openRecords } from '../detect/open.js';
import { MOST_FIELDS } from '../detect/schema-drift/schema.js';
import type { SurveyQuestion } from '../detect/survey.js';
import { eventsOf } from '../../events/envelope.js';
import type { ChangeEvent } from '../../events/types.js';
import { isoTime } from '../../kit/clock.js';
import { ChangefeedError } from '../../kit/errors.js';
import { NOT_RECOGNISED, type Checkpoint, type Step, type StoredPage } from '../store/sweep-state.js';
import { comparePage, type PageComparison } from './compare.js';
import { showsKnown } from './creations.js';
import { isFinished, summarise } from './finish.js';
import { isSameSource, pageTagOf, type FeedList } from './list.js';
import { askForShortcut, type Answer, type ShortcutAnswer, type WalkAnswer } from './pages.js';
import { omittedWith } from './omitted.js';
import type { PageToRead } from './read-ahead.js';
import type { ShownPage } from './shortcuts/plan.js';
import { countPage } from './survey.js';

/** How long unchanged pages may wait for a commit. After a crash they are read again. */
const UNCOMMITTED_MS = 2_000;

/** The decision about an answer. Nothing of it is written yet. */
export interface Taken {
  /** The step to commit; null for none. */
  step: Step | null;
  /** The position of the walk after it. */
  checkpoint: Checkpoint;
  /** The contents that the planner learns from. Null: nothing of the page was judged. */
  shown: ShownPage | null;
  events: readonly ChangeEvent[];
  /** Why nothing of the page of a shortcut was judged. */
  dropped?: string;
  /** Only the whole list can answer it. */
  question?: SurveyQuestion;
}

export async function take(list: FeedList, answer: Answer): Promise<Taken> {
  const taken = answer.by === 'shortcut' ? await takeShortcut(list, answer) : await takeWalked(list, answer);
  const { step } = taken;
  const { actors } = list.deps;
  if (step === null || step.writes.length === 0 || actors === undefined) return taken;
  const writes = await actors.sign(list.name, step.writes, list.state.lastSweep?.startedAt ?? null);
  return { ...taken, step: { ...step, writes } };
}

async function takeWalked(list: FeedList, answer: WalkAnswer): Promise<Taken> {
  const { page, known, nextCursor, number } = answer;
  const { checkpoint } = list;
  const nothing: Taken = { step: null, checkpoint, shown: null, events: [] };
  if (list.survey !== null) {
    if (page !== null) await countPage(list, page);
    return nothing;
  }
  if (page === null) {
    list.skipped = true;
    const { records = 0, open = [] } = known ?? {};
    const { counts } = checkpoint;
    const reached = {
      counts: { ...counts, seen: counts.seen + records, unchanged: counts.unchanged + records },
      known: (checkpoint.known ?? 0) + records,
      ...omittedWith(list, null),
    };
    const shown = { keys: [], created: [], rewritten: [], left: 0, isOutdated: false, nextCursor, open };
    return walked(list, answer, { reached, changes: null, shown, length: list.lastSweep?.longestPage ?? 0 });
  }
  await recallSkipped(list, number - 1);
  const isOurs = (): Promise<boolean> =>
    showsKnownElsewhere(list, number, (other) =>
      list.deps.api.fetchPage(list.name, { ...other, signal: list.options.signal }),
    );
  const compared = await comparePage(list, { by: 'walk', isOurs, number, page, askedAtMs: answer.askedAtMs });
  warnOfManyFields(list);
  if ('about' in compared) return { ...nothing, question: compared };
  if (nextCursor !== null) list.visited.shown(list.name, list.showsNew(compared) || hasUnreadable(page));
  const { writes, schema, counted, members, keys } = compared;
  const reached = { ...compared.reached, ...omittedWith(list, page) };
  const shown = shownBy(list, page, compared, nextCursor);
  const { open } = shown;
  const stored = { ...storedPage(list, answer, page, compared), ...(open.length > 0 && { open }) };
  const changes = { writes, schema, counted, members, page: { number, stored } };
  return walked(list, answer, { reached, changes, shown, length: page.saysEnd === true ? 0 : keys.length });
}

/** The page before was skipped, and a record that was added during the sweep may move its last ones to this page. */
async function recallSkipped(list: FeedList, before: number): Promise<void> {
  const { skipped, seen, name, deps } = list;
  list.skipped = false;
  if (!skipped) return;
  const [keys] = await deps.store.membersOf(name, [before]);
  for (const key of keys ?? []) if (!seen.has(key)) seen.set(key, before);
}

/** @param length records of a page that does not say that the list ends there, or 0. Unchanged: that of the longest */
function walked(
  list: FeedList,
  { nextCursor }: WalkAnswer,
  {
    reached,
    changes,
    shown,
    length,
  }: { reached: Partial<Checkpoint>; changes: Step | null; shown: ShownPage; length: number },
): Taken {
  const { checkpoint: before, visited, deps } = list;
  const { clock } = deps;
  const checkpoint: Checkpoint = {
    ...before,
    ...reached,
    pages: before.pages + 1,
    longestPage: Math.max(before.longestPage ?? 0, length),
    cursor: nextCursor,
    readAt: isoTime(clock.now()),
    firstPage: visited.firstPage,
    ...(nextCursor === null && { finishing: true }),
  };
  const events = changes === null ? [] : eventsOf(changes);
  const isDue = nextCursor === null || clock.monotonic() - list.committedMs >= UNCOMMITTED_MS;
  if (changes === null && !isDue) return { step: null, checkpoint, shown, events };
  const summary = isFinished(list, checkpoint) ? summarise(list, checkpoint, []) : null;
  const at = { checkpoint: summary === null ? checkpoint : null, summary, cursors: visited.takeFollowed() };
  return { step: { ...at, ...(changes ?? { writes: [] }) }, checkpoint, shown, events };
}

function storedPage(
  { rules, visited }: FeedList,
  { cursor, nextCursor }: WalkAnswer,
  { digest }: Page,
  { keys, isSettled }: PageComparison,
): StoredPage {
  const tag = pageTagOf(rules);
  return {
    ...{ cursor, nextCursor, firstPage: cursor === null ? visited.firstPage : null, records: keys.length },
    digest: isSettled && digest !== undefined ? digest : NOT_RECOGNISED,
    ...(tag !== undefined && { rules: tag }),
  };
}

function shownBy(
  { rules }: FeedList,
  page: Page,
  { keys, writes, created, left, isOutdated }: PageComparison,
  nextCursor: string | null,
): ShownPage {
  const isNew = new Set(created);
  const rewritten = writes.map(({ key }) => key).filter((key) => !isNew.has(key));
  return { keys, created, rewritten, left, isOutdated, nextCursor, open: openRecords(page, rules.list) };
}

/** @throws ChangefeedError CF_LEASE_LOST, CF_STATE_LOST */
async function takeShortcut(list: FeedList, { shortcut, page, askedAtMs }: ShortcutAnswer): Promise<Taken> {
  const { checkpoint, deps } = list;
  const nothing: Taken = { step: null, checkpoint, shown: null, events: [] };
  const dropped = (why: string): Taken => ({ ...nothing, dropped: why });
  if (page === null || page === 'not sent') return nothing;
  const off = whyNoShortcut(list);
  if (off !== null) return dropped(off);
  const created = await deps.store.created(list.name);
  const by = { created, isLive: list.options.shortcuts?.isLive() === true };
  const isOurs = (): Promise<boolean> =>
    showsKnownElsewhere(list, shortcut.page, async (other) => {
      const asked = { ...shortcut, ...other, kind: 'aimed', ids: [] } as const;
      const answer = await askForShortcut(list, asked, list.options.signal);
      return answer.page === 'not sent' ? null : answer.page;
    });
  const compared = await comparePage(list, { by, isOurs, number: shortcut.page, page, askedAtMs }).catch(refusedPage);
  // An id is missing, which the walk reports.
  if (compared === null) return dropped('malformed');
  // The guard on new records decides on whole lists.
  if ('about' in compared) return dropped('too many new');
  const { writes, schema, counted, reached } = compared;
  const shown = shownBy(list, page, compared, page.nextCursor);
  const byShortcuts = (checkpoint.byShortcuts ?? 0) + shown.created.length + shown.rewritten.length;
  // The page may have the bytes it had before, while its stored records no longer are as it shows them.
  const forgotten = shown.rewritten.length === 0 ? {} : { page: { number: shortcut.page, stored: null } };
  const changes = { writes, schema, counted, created: shown.created };
  const step = writes.length === 0 ? null : { ...changes, ...forgotten };
  const after = { ...checkpoint, counts: reached.counts, byShortcuts };
  return { step, checkpoint: after, shown, events: eventsOf({ writes }) };
}

/**
 * A page of which no record is known may be one by which the list has grown, or be of another workspace. Another page of the last
 * complete sweep, requested now, decides.
 */
async function showsKnownElsewhere(
  list: FeedList,
  number: number,
  read: (page: PageToRead) => Promise<Page | null>,
): Promise<boolean> {
  const [second] = number === 1 ? await list.deps.store.pages(list.name, 2, 1) : [];
  if (number === 1 && second == null) return false;
  const page = await read({ page: number === 1 ? 2 : 1, cursor: second?.cursor ?? null });
  return page !== null && (await showsKnown(list, page));
}

function refusedPage(error: unknown): null {
  if (error instanceof ChangefeedError && error.code === 'CF_PAGE_MALFORMED') return null;
  throw error;
}

function whyNoShortcut(list: FeedList): string | null {
  const { checkpoint, verdict, survey } = list;
  const { source } = list.deps;
  const { baselineAt, lastSweep } = list.state;
  if (baselineAt === null || lastSweep === null || list.isOtherForm(lastSweep)) return 'no baseline';
  if (checkpoint.mode === 'baseline') return 'no baseline';
  if (!isSameSource(lastSweep.source, source) || !isSameSource(checkpoint.source, source)) return 'source';
  if (checkpoint.takesOver === true) return 'source';
  if (checkpoint.finishing === true) return 'finishing';
  if (survey !== null) return 'surveyed';
  if (verdict.heldSince !== null) return 'held';
  return heldOf(lastSweep.held, 'creations') === undefined ? null : 'held';
}

function warnOfManyFields({ deps: { workspace, log }, name, tracked, checkpoint: { sweepId } }: FeedList): void {
  if (tracked.justFilled()) log.warn({ workspace, list: name, tracked: MOST_FIELDS, sweepId }, TOO_MANY_FIELDS);
}

const TOO_MANY_FIELDS =
  'too many field names: further ones are compared, but left out of "changefeed schema" and of schema changes';
