/** What a rule would have done: the reader of `changefeed try`, with each match as the message would read. Nothing is sent, nothing is stored. */
import type { Rule } from '../config/rules.js';
import { enrich, type Surroundings } from '../delivery/run/attempt.js';
import { titledText } from '../delivery/handlers/message/chat.js';
import { digestText } from '../delivery/handlers/message/digest-text.js';
import { SERVICES } from '../delivery/handlers/message/services.js';
import { readTemplate, renderTemplate, usualMessage } from '../delivery/handlers/message/template.js';
import { DigestSums } from '../delivery/run/summary.js';
import { trySubscription, type TryCall } from '../delivery/ask/try.js';
import type { Tried } from '../delivery/ask/tried.js';
import { listOf } from '../events/envelope.js';
import type { ChangeEvent } from '../events/types.js';
import { formatsFor } from '../words/format.js';
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

export function textOf({ data, subscription }: Rule, { event, language, timeZone }: Match): string {
  const { include = {} } = subscription;
  const { template } = data;
  const reader = { service: PLAIN, language, timeZone, list: listOf(event, subscription.catalogue) ?? null };
  const read = template === undefined ? null : readTemplate(template, Object.keys(include));
  return read?.outcome === 'read' ? renderTemplate(read.template, event, reader) : usualMessage(event, reader);
}

/** Null where the rule sends each event by itself, and where there is none. */
export function digestOf({ subscription }: Rule, matches: readonly Match[]): string | null {
  const [first] = matches;
  if (subscription.digest === undefined || first === undefined) return null;
  const sums = new DigestSums();
  for (const match of matches.toReversed()) sums.add(match);
  const { workspace, language, timeZone } = first;
  const summary = sums.summary({ workspace, events: noEvents });
  return titledText(digestText(summary, formatsFor({ language, timeZone, now: summary.to.time })), PLAIN);
}

// eslint-disable-next-line @typescript-eslint/require-await -- as the events of the log, which are awaited
async function* noEvents(): AsyncGenerator<ChangeEvent> {
  yield* [];
}
