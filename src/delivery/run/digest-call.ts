/** What a digest says: it reads a range of the log twice, once for the sums, and once more if its handler reads the events. */
import { listOf } from '../../events/envelope.js';
import { BEFORE_ALL, compareLogIds } from '../../events/log-id.js';
import { compileSelection } from '../../events/pattern.js';
import type { ChangeEvent, LoggedEvent } from '../../events/types.js';
import { attemptDelivery, callWithin, contextFor, resultIn, shapeEvent, type AttemptResult } from './attempt.js';
import type { DigestSummary } from '../handlers/handler.js';
import type { Noted } from '../receipts/note.js';
import type { GivenRun, RunOptions } from './run.js';
import { DigestSums, type Period } from '../handlers/summary.js';
import { changesPage } from './page-links.js';

/** As receipts name it; no event has this type. */
const DIGEST_TYPE = 'changefeed.digest';

export type Attempt = RunOptions & { attempt: number; interrupt: GivenRun['lock']['interrupt'] };

/** One message: how it is sent, and what its receipt is about. */
export interface Call {
  send: () => Promise<AttemptResult>;
  about: Noted;
}

interface Range {
  workspace: string;
  /** Exclusive; the last event that may be in it. */
  after: string;
  to: string;
}

/** Null: another run has gone beyond it. All attempts have the same end, so that they say the same. */
export async function rangeOf({ job }: GivenRun, { log, offsets, subscription }: RunOptions): Promise<Range | null> {
  const { workspace, logId } = job.data;
  const after = await offsets.get(workspace, subscription.name);
  if (after === null) return null;
  const to = logId === '' ? await log.tail(workspace) : logId;
  if (compareLogIds(after, to) >= 0 || to === BEFORE_ALL) return null;
  if (logId === '') await job.updateData({ ...job.data, logId: to });
  return { workspace, after, to };
}

/** Null: no event is selected. */
export async function digestCall(range: Range, attempt: Attempt): Promise<Call | null> {
  const { workspace } = range;
  const sums = new DigestSums();
  let only: LoggedEvent | null = null;
  for await (const { shaped, ...logged } of selected(range, attempt)) {
    only = sums.count === 0 ? logged : null;
    sums.add({ logId: logged.logId, event: shaped });
  }
  if (sums.count === 0) return null;
  // A single event reads as a single message.
  if (only !== null) {
    const delivery = { ...only, id: only.event.id, workspace };
    return { send: () => attemptDelivery({ ...attempt, delivery }), about: delivery };
  }
  const { pageUrl, subscription } = attempt;
  const linkOf = (period: Period): string | null => changesPage(pageUrl, subscription, { workspace, ...period });
  const summary = sums.summary({ workspace, events: () => shapedEvents(range, attempt), linkOf });
  const { id, from, to, count } = summary;
  const digest = { fromLogId: from.logId, count };
  const about = { id, workspace, logId: to.logId, event: { id, type: DIGEST_TYPE, subject: '' }, digest };
  return { send: async () => resultIn(await callWithin(() => callDigest(summary, attempt), attempt)), about };
}

function callDigest(summary: DigestSummary, attempt: Attempt): unknown {
  const { id, workspace } = summary;
  const about = { workspace, effectsOf: id, facts: { digest: id } };
  return attempt.subscription.handleDigest?.(summary, contextFor(attempt, about));
}

async function* selected({ workspace, after, to }: Range, attempt: Attempt) {
  const { log, subscription, interrupt } = attempt;
  const selects = compileSelection(subscription);
  const isMuted = await mutedIn(workspace, attempt);
  const range = { workspaces: [workspace], order: 'oldest', from: after, to, types: subscription.on } as const;
  for await (const entries of log.query(range)) {
    if (interrupt.cause !== null) throw new Error('interrupted');
    for (const entry of entries) {
      const { logId, event } = entry.logged();
      const shaped = selects(event) && !isMuted(event) ? await shapeEvent(event, workspace, attempt) : null;
      if (shaped !== null) yield { logId, event, shaped };
    }
  }
}

/** Read at once: a digest may be about thousands of events. */
export async function mutedIn(
  workspace: string,
  { subscription, clock, surroundingsOf }: Pick<RunOptions, 'subscription' | 'clock' | 'surroundingsOf'>,
): Promise<(event: ChangeEvent) => boolean> {
  if (subscription.mutable !== true) return () => false;
  const all = await surroundingsOf(workspace).mutes.all(clock.now());
  const own = all.filter((one) => one.subscription === subscription.name);
  const muted = new Set(own.map(({ list, id }) => `${list} ${id}`));
  return (event) => muted.has(`${listOf(event, subscription.catalogue) ?? ''} ${event.subject}`);
}

async function* shapedEvents(range: Range, attempt: Attempt): AsyncGenerator<ChangeEvent> {
  for await (const { shaped } of selected(range, attempt)) yield shaped;
}
