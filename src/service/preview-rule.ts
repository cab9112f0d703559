/** What a rule would have done: the reader of `changefeed try`, with each match as the message would read. Nothing is sent, nothing is stored. */
import type { Rule } from '../config/rules.js';
import { enrich, type Surroundings } from '../delivery/run/attempt.js';
import { readBackground, type Background } from '../delivery/handlers/message/background.js';
import { eventsIn } from '../delivery/handlers/message/digest-text.js';
import { renderDigest } from '../delivery/handlers/message/message.js';
import { SERVICES } from '../delivery/handlers/message/services.js';
import { readTemplate, renderTemplate, usualMessage } from '../delivery/handlers/message/template.js';
import { periodOf } from '../delivery/moments.js';
import { mutedIn } from '../delivery/run/digest-call.js';
import { changesPage } from '../delivery/run/page-links.js';
import { DigestSums, type Period } from '../delivery/handlers/summary.js';
import { trySubscription, type TryCall } from '../delivery/ask/try.js';
import type { Tried } from '../delivery/ask/tried.js';
import { listOf } from '../events/envelope.js';
import { offsetAt, timeOfLogId } from '../events/log-id.js';
import { compileSelection } from '../events/pattern.js';
import type { ChangeEvent } from '../events/types.js';
import { isoTime } from '../kit/clock.js';
import type { AppContext } from '../../workers/context.js';
import type { Workspaces } from '../../workers/workspaces.js';

/** Without the marks that a chat would turn into bold text. */
const PLAIN = SERVICES.jandi;

export interface Match {
  workspace: string;
  event: ChangeEvent;
  refusedBy: Tried['tried'][number]['refusedBy'];
  logId: string;
  language: Surroundings['language'];
  timeZone: string;
}

export type MatchesOf = (rule: Rule, call: TryCall) => Promise<{ tried: Tried; matches: Match[] }>;

/** The newest match first, each with what is delivered with it. */
export function createMatches({ events: log, clock }: AppContext, workspaces: Workspaces): MatchesOf {
  return async ({ subscription }, call) => {
    const deps = { subscription, log, clock, workspaces: workspaces.names };
    const tried = await trySubscription(call, deps);
    const matches = tried.tried.toReversed().map(async ({ workspace, logId, refusedBy }) => {
      const logged = await log.stored(workspace, logId);
      if (logged === null) return [];
      const surroundings = workspaces.surroundingsOf(workspace);
      const { language = surroundings.language, include } = subscription;
      const event = await enrich(logged.event, include, surroundings);
      return [{ workspace, event, refusedBy, logId, language, timeZone: surroundings.timeZone }];
    });
    return { tried, matches: (await Promise.all(matches)).flat() };
  };
}

export async function textOf(
  { data, subscription }: Rule,
  { workspace, event, language, timeZone }: Match,
  workspaces: Workspaces,
): Promise<string> {
  const { include = {} } = subscription;
  const { template } = data;
  const list = listOf(event, subscription.catalogue) ?? null;
  const background = await backgroundOf([event], workspaces.surroundingsOf(workspace));
  const reader = { service: PLAIN, language, timeZone, list, background };
  const read = template === undefined ? null : readTemplate(template, Object.keys(include));
  return read?.outcome === 'read' ? renderTemplate(read.template, event, reader) : usualMessage(event, reader);
}

function backgroundOf(events: readonly ChangeEvent[], { record, pageOf }: Surroundings): Promise<Background> {
  return readBackground(events, { records: { get: record }, pageOf });
}

export interface Digest {
  /** When it was sent, or will be. */
  at: string;
  text: string;
}

/** The digest that the newest match belongs to, whole. Null where the rule sends each event by itself, and where nothing matches. */
export async function digestOf(
  rule: Rule,
  [newest]: readonly Match[],
  { events: log, config, clock }: AppContext,
  workspaces: Workspaces,
): Promise<Digest | null> {
  const { subscription } = rule;
  if (subscription.digest === undefined || newest === undefined) return null;
  const { workspace, language, timeZone } = newest;
  const { afterMs, atMs } = periodOf(subscription.digest, timeOfLogId(newest.logId), timeZone);
  const range = { workspaces: [workspace], order: 'oldest', from: offsetAt(afterMs), to: offsetAt(atMs) } as const;
  const selects = compileSelection(subscription);
  const surroundings = workspaces.surroundingsOf(workspace);
  const isMuted = await mutedIn(workspace, { subscription, clock, surroundingsOf: () => surroundings });
  const sums = new DigestSums();
  let last = newest;
  for await (const entries of log.query({ ...range, types: subscription.on }))
    for (const entry of entries) {
      const logged = entry.logged();
      if (!selects(logged.event) || isMuted(logged.event)) continue;
      // The others are only counted.
      const event = sums.names(logged.event)
        ? await enrich(logged.event, subscription.include, surroundings)
        : logged.event;
      last = { ...newest, event, logId: logged.logId };
      sums.add(last);
    }
  const at = isoTime(atMs);
  // A single event reads as a single message.
  if (sums.count < 2) return { at, text: await textOf(rule, last, workspaces) };
  const linkOf = (period: Period): string | null =>
    changesPage(config.http.publicUrl, subscription, { workspace, ...period });
  const summary = sums.summary({ workspace, events: noEvents, linkOf });
  const background = await backgroundOf(eventsIn(summary), surroundings);
  return { at, text: renderDigest(summary, { service: PLAIN, language, timeZone, background }) };
}

// eslint-disable-next-line @typescript-eslint/require-await -- as the events of the log, which are awaited
async function* noEvents(): AsyncGenerator<ChangeEvent> {
  yield* [];
}
