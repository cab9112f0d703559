/** Commits what is certain of a page that was read outside the order of a walk, under the same lease. */
import type { Page } from '../../api/read-api.js';
import { heldOf } from '../../detect/held.js';
import { openRecords } from '../../detect/open.js';
import type { Rules } from '../../detect/rules.js';
import { ChangefeedError } from '../../../kit/errors.js';
import { eventsOf } from '../../../events/envelope.js';
import type { ChangeEvent } from '../../../events/types.js';
import { classifyPage, type ClassifiedPage } from '../classify/classify-page.js';
import { noCounts } from '../counts.js';
import { expectCommitted } from '../errors.js';
import { guardOf } from '../guards/guard-creations.js';
import { isSameSource } from '../guards/source.js';
import type { SweepMemory } from '../memory.js';
import { isOtherForm, observationOf, type SweepDeps, type SweepOptions } from '../options.js';
import type { Checkpoint, FencingToken, ListState, SweepCounts, SweepSummary } from '../../store/sweep-state.js';
import type { PageAnswer } from './answers.js';
import type { ShortcutPage } from './plan.js';

export interface ListPosition {
  token: FencingToken;
  state: ListState;
  /** Null when no walk is under way or interrupted. */
  checkpoint: Checkpoint | null;
  memory: SweepMemory;
}

/** `malformed`: no id, which the walk reports. `too many new`: the guard on new records decides on whole lists. */
export type DropReason = 'no baseline' | 'source' | 'held' | 'finishing' | 'malformed' | 'too many new';

export interface ShownPage extends PageAnswer {
  outcome: 'shown';
  counts: SweepCounts;
  events: readonly ChangeEvent[];
}

export type ShortcutResult = ShownPage | { outcome: 'dropped'; why: DropReason };

export interface ShortcutAnswer extends ListPosition {
  shortcut: ShortcutPage;
  answer: Page;
  /** When the request was sent, ms since the epoch. */
  askedAtMs: number;
  /** The list answers kept cursors with its pages as they are now (plan.ts). */
  isLive: boolean;
}

/** @throws ChangefeedError CF_LEASE_LOST, CF_STATE_LOST */
export async function commitShortcut(
  deps: SweepDeps,
  options: SweepOptions,
  asked: ShortcutAnswer,
): Promise<ShortcutResult> {
  const { list } = options;
  const { shortcut, answer, token, state, checkpoint } = asked;
  const off = whyNoShortcut(state, checkpoint, { source: deps.source, rules: options.rules });
  if (off !== null) return { outcome: 'dropped', why: off };
  const classified = await classify(deps, options, asked);
  if (typeof classified === 'string') return { outcome: 'dropped', why: classified };
  const { keys, left, isOutdated, reached } = classified;
  const { writes, schema, created } = classified.changes;
  const isNew = new Set(created);
  const rewritten = writes.map(({ key }) => key).filter((key) => !isNew.has(key));
  if (writes.length > 0) {
    // The page may have the bytes it had before, while its stored records no longer are as it shows them.
    const page = rewritten.length === 0 ? {} : { page: { number: shortcut.page, stored: null } };
    expectCommitted(list, await deps.store.commit(list, { token, writes, schema, created, ...page }));
  }
  const [events, { counts }] = [eventsOf({ writes }), reached];
  const open = openRecords(answer.records, options.rules.list);
  const { nextCursor } = answer;
  return { outcome: 'shown', ...{ keys, nextCursor, created, rewritten, left, isOutdated, open }, counts, events };
}

function whyNoShortcut(
  { baselineAt, lastSweep }: ListState,
  checkpoint: Checkpoint | null,
  { source, rules }: { source: string | undefined; rules: Rules },
): DropReason | null {
  if (isOtherForm(lastSweep, rules)) return 'no baseline';
  if (baselineAt === null || lastSweep === null || checkpoint?.mode === 'baseline') return 'no baseline';
  if (!isSameSource(lastSweep.source, source) || !isSameSource(checkpoint?.source, source)) return 'source';
  if (checkpoint?.takesOver === true) return 'source';
  if (checkpoint?.finishing === true) return 'finishing';
  const { survey, verdict } = checkpoint ?? {};
  if (survey === 'creations' || (verdict?.heldSince ?? null) !== null) return 'held';
  return heldOf(lastSweep.held, 'creations') === undefined ? null : 'held';
}

async function classify(
  deps: SweepDeps,
  options: SweepOptions,
  { shortcut, answer, askedAtMs, isLive, state: { lastSweep }, memory, ...walk }: ShortcutAnswer,
): Promise<Extract<ClassifiedPage, { outcome: 'classified' }> | DropReason> {
  const { store } = deps;
  const { list, rules } = options;
  const checkpoint = walk.checkpoint ?? betweenWalks(lastSweep);
  const page = classifyPage(store, {
    asked: { by: 'shortcut', isLive, created: await store.created(list) },
    page: shortcut.page,
    records: answer.records,
    unreadable: answer.unreadable ?? [],
    askedAtMs,
    checkpoint,
    memory,
    rules,
    baseline: null,
    drifted: [...(checkpoint.verdict?.fields ?? []), ...(lastSweep?.drifted ?? [])],
    guard: guardOf(options, lastSweep),
    observation: observationOf(deps, options, checkpoint),
  });
  try {
    const classified = await page;
    return classified.outcome === 'survey' ? 'too many new' : classified;
  } catch (error) {
    if (error instanceof ChangefeedError && error.code === 'CF_PAGE_MALFORMED') return 'malformed';
    throw error;
  }
}

/** Stands for the checkpoint while no walk is under way. */
function betweenWalks(lastSweep: SweepSummary | null): Checkpoint {
  const { sweepId, startedAt } = lastSweep ?? { sweepId: '', startedAt: '' };
  return { sweepId, startedAt, mode: 'changes', cursor: null, pages: 0, counts: noCounts(), firstPage: null };
}
