/**
 * What the page asks about rules and has done with them. Each answer is of the file as it is now. A saved rule runs in three steps: its place in the
 * logs is set to their end (`beginNow`); the file is written under a lock (config/change-rules.ts); this process takes it over at once, and each
 * other one when it reads the file, within a second (running-rules.ts). Nothing else of the service notices.
 */
import { randomUUID } from 'node:crypto';
import { changeRules } from '../config/change-rules.js';
import { problemsText } from '../config/report.js';
import { buildRule, knownTo, rulesOf, type Rule, type RuleData } from '../config/rules.js';
import { listsOf } from '../config/lists.js';
import type { ListName } from '../crm/lists/lists.js';
import type { Dispatcher } from '../delivery/dispatcher.js';
import { FIRST_ANSWER_MS } from '../delivery/ask/try.js';
import { textOfValue, titleOfEvent } from '../events/describe.js';
import { listOf, workspaceOf } from '../events/envelope.js';
import type { ChangeEvent } from '../events/types.js';
import { placeOfDestination, type Destination } from '../delivery/handlers/destinations.js';
import type { Subscription } from '../delivery/handlers/handler.js';
import { isoTime } from '../kit/clock.js';
import { sentenceOf } from '../kit/schema/problem.js';
import type { PageRules } from '../ops/server/page/source.js';
import type { Doubt } from '../words/doubts.js';
import type { MissingRules } from './missing-rules.js';
import type { Refused, RunningRules } from './running-rules.js';
import type { AppContext } from '../../workers/context.js';
import type { Workspaces } from '../../workers/workspaces.js';
import { createNeverHolds, stored } from './never-holds.js';
import { createUnchangedMatches } from './preview-unchanged.js';
import { createMatches, digestOf, textOf, type Digest, type Match, type MatchesOf } from './preview-rule.js';
import { reportOf } from './preview-report.js';
import { deliverTest, exampleFor, exampleWith } from './test-event.js';

const EXAMPLES = 10;
/** Stored records cannot be asked for from where a first answer ended. */
const WHOLE_ANSWER_MS = 10_000;
const MOST_SEARCHED = 20;
const MOST_VALUES = 50;
const LONGEST_VALUE = 100;

/** A preview sends nothing, so that it need not say who is told. */
const NOBODY = 'nobody';
const PREVIEWED: Readonly<Record<string, Destination>> = {
  [NOBODY]: { handler: 'message', service: 'jandi', url: 'https://nobody.invalid/' },
};

interface RulesDeps {
  dispatcher: Dispatcher;
  running: RunningRules;
  refusedConfig?: (() => Refused | null) | undefined;
}

export function pageRules(context: AppContext, workspaces: Workspaces, deps: RulesDeps): PageRules {
  const { refusedConfig = () => null } = deps;
  const [ofLog, ofRecords] = [createMatches(context, workspaces), createUnchangedMatches(context, workspaces)];
  const matchesOf: MatchesOf = (rule, call) =>
    (rule.subscription.unchanged === undefined ? ofLog : ofRecords)(rule, call);
  const doubtsOf = async ({ subscription, data }: Rule): Promise<Doubts> => {
    const neverHolds = createNeverHolds(context, workspaces);
    const never = await neverHolds.of(subscription, data.template);
    const unseen = await neverHolds.unseen(subscription);
    return [...never, ...unseen.filter(({ field }) => never.every((one) => one.field !== field))].map(plain);
  };
  return {
    async state() {
      const state = await stateOf(context, workspaces);
      if (state.file === null) return state;
      const missing = await deps.running.missingNow();
      // Also where the configuration has changed, such as a destination that a rule names and that is gone.
      const refused = state.problem ?? refusedConfig()?.error ?? null;
      return { ...state, problem: missing === null ? refused : textOfMissing(missing) };
    },
    ...decisions(context, workspaces, { ...deps, matchesOf }),
    async preview({ rule: data, from, search }) {
      const rule = read({ to: NOBODY, ...data }, context, 'to' in data ? {} : PREVIEWED);
      if ('why' in rule) return rule;
      const report = await reportOf(rule, context, workspaces);
      if (report !== null) return previewOfReport(report, isoTime(context.clock.now()));
      const isNow = rule.subscription.unchanged !== undefined;
      const signal = AbortSignal.timeout(isNow ? WHOLE_ANSWER_MS : FIRST_ANSWER_MS);
      const examples = search === undefined ? EXAMPLES : MOST_SEARCHED;
      const { tried, matches } = await matchesOf(rule, { from, search, examples, signal });
      const { since, read: events, selected, perDay, next } = tried;
      const shown = await Promise.all(
        matches.map(async (one) => ({ ...seen(one), text: await textOf(rule, one, workspaces) })),
      );
      return {
        outcome: 'tried',
        since,
        read: events,
        selected,
        perDay: [...perDay],
        examples: shown,
        digest: search === undefined && !isNow ? await digestOf(rule, matches, context, workspaces) : null,
        doubts: from === undefined && search === undefined ? await doubtsOf(rule) : [],
        next,
      };
    },
    values: (workspace, list, field) => valuesIn(context, workspaces, { workspace, list, field }),
  };
}

function decisions(
  context: AppContext,
  workspaces: Workspaces,
  { dispatcher, running, matchesOf }: RulesDeps & { matchesOf: MatchesOf },
): Pick<PageRules, 'save' | 'remove' | 'send'> {
  const { config } = context;
  /** What waits for a rule that is switched off is not sent when it is switched on again. */
  const drop = async (before: Rule | undefined): Promise<void> => {
    if (before?.enabled === true) await dispatcher.dropFormer(before.subscription);
  };
  /** What is written would take the place of all that is missing. */
  const missing = async (): Promise<{ outcome: 'refused'; why: string } | null> => {
    const found = await running.missingNow();
    return found && { outcome: 'refused', why: `Nothing was saved. ${textOfMissing(found)}` };
  };
  return {
    async save({ revision, rule: data }) {
      const refused = await missing();
      if (refused !== null) return refused;
      const built = read(data, context);
      if ('why' in built) return built;
      const { id, enabled, subscription, data: saved } = built;
      const now = rulesOf(config);
      const before = now.rules.find((one) => one.id === id);
      // Before it is in the file: it begins at this moment, whenever a process reads the file.
      if (enabled && before?.enabled !== true && now.file?.revision === revision) {
        // What it was sending when it was switched off would come back into its queue.
        await running.settled(subscription.name);
        await dispatcher.beginNow(subscription);
      }
      const changed = await changeRules(config, revision, (all) =>
        // It keeps its place: people have an order in mind.
        all.some((one) => one.id === id) ? all.map((one) => (one.id === id ? saved : one)) : [...all, saved],
      );
      if (changed.outcome !== 'saved') return changed;
      await running.written();
      if (!enabled) await drop(before);
      return { outcome: 'saved', ...decided(before, built) };
    },
    async remove({ revision, id }) {
      const refused = await missing();
      if (refused !== null) return refused;
      const before = rulesOf(config).rules.find((one) => one.id === id);
      const changed = await changeRules(config, revision, (all) => all.filter((one) => one.id !== id));
      if (changed.outcome !== 'saved') return changed;
      await running.written();
      await drop(before);
      return { outcome: 'saved', did: 'removed', changed: [] };
    },
    async send(data) {
      const rule = read(data, context);
      if ('why' in rule) return rule;
      const { subscription } = rule;
      if (subscription.report !== undefined)
        return { outcome: 'refused', why: 'A report is sent at its time; the preview has its text.' };
      const [match] = (await matchesOf(rule, { examples: 1 })).matches;
      const chosen = match?.event ?? (await exampleIn(subscription, context, workspaces));
      const signal = AbortSignal.timeout(subscription.timeoutMs);
      const event = markedAsTest(chosen);
      const sent = await deliverTest(subscription, event, config, signal).finally(() => subscription.close?.());
      return { outcome: 'sent', sent, record: titleOfEvent(event) ?? event.subject, matched: match !== undefined };
    },
  };
}

/** Of a rule that nothing has matched yet: a stored record, as if it had changed so. */
async function exampleIn(
  subscription: Subscription,
  context: AppContext,
  workspaces: Workspaces,
): Promise<ChangeEvent> {
  const example = exampleFor(subscription, undefined, context.config);
  const [workspace, list] = [workspaceOf(example), listOf(example, listsOf(context.config.workspaces))];
  if (list === undefined) return example;
  for await (const events of stored(context, workspaces, { workspace, list })) {
    const record = events.at(-1)?.data.after;
    if (record) return exampleWith(example, record);
  }
  return example;
}

/** The most frequent first, of some of the stored records. */
async function valuesIn(
  context: AppContext,
  workspaces: Workspaces,
  { workspace, list, field }: { workspace: string; list: ListName; field: string },
): Promise<string[]> {
  const counts = new Map<string, number>();
  for await (const events of stored(context, workspaces, { workspace, list }))
    for (const { data } of events)
      for (const text of textsIn(data.after?.[field])) counts.set(text, (counts.get(text) ?? 0) + 1);
  const sorted = [...counts].sort(([, a], [, b]) => b - a);
  return sorted.slice(0, MOST_VALUES).map(([value]) => value);
}

/** It is about no events. */
function previewOfReport(digest: Digest, since: string): Awaited<ReturnType<PageRules['preview']>> {
  const nothing = { read: 0, selected: 0, perDay: [], examples: [], doubts: [], next: null };
  return { outcome: 'tried', since, ...nothing, digest };
}

/** @param more destinations that the configuration does not have */
function read(
  data: object,
  { config }: AppContext,
  more: Readonly<Record<string, Destination>> = {},
): Rule | { outcome: 'refused'; why: string } {
  const known = knownTo(config);
  const built = buildRule(data, { ...known, destinations: { ...more, ...known.destinations } });
  return 'rule' in built ? built.rule : { outcome: 'refused', why: built.problems.map(sentenceOf).join('\n') };
}

async function stateOf(context: AppContext, workspaces: Workspaces): ReturnType<PageRules['state']> {
  const { config } = context;
  const { file, rules, problems } = rulesOf(config);
  const destinations = Object.entries(config.destinations).map(([name, one]) => {
    const mention = one.handler === 'message' && one.mention === true;
    return { name, handler: one.handler, place: placeOfDestination(one), mention };
  });
  const neverHolds = createNeverHolds(context, workspaces);
  const described = rules.map(async ({ id, enabled, data, subscription }) => {
    const runs = enabled && file?.revision === config.rules?.revision;
    const doubts = await neverHolds.of(subscription, data.template);
    return { id, subscription: subscription.name, enabled, runs, doubts: doubts.map(plain), data };
  });
  return {
    file: file?.source ?? null,
    revision: file?.revision ?? '',
    problem: file === null || problems.length === 0 ? null : problemsText(file.source, problems),
    destinations,
    rules: await Promise.all(described),
  };
}

type Doubts = Awaited<ReturnType<PageRules['state']>>['rules'][number]['doubts'];

const plain = ({ wants, has, ...doubt }: Doubt): Doubts[number] => ({ ...doubt, wants: [...wants], has: [...has] });

function textOfMissing({ file, rules }: MissingRules): string {
  return `${file} is gone, empty or unreadable, and had ${rules} rules: put it back, or decide that they are gone (changefeed rules forget-missing).`;
}

type Decision = Omit<Extract<Awaited<ReturnType<PageRules['save']>>, { outcome: 'saved' }>, 'outcome'>;

function decided(before: Rule | undefined, now: Rule): Decision {
  if (before === undefined) return { did: 'created', changed: [] };
  const names = new Set([...Object.keys(before.data), ...Object.keys(now.data)]) as Set<keyof RuleData>;
  const differs = (name: keyof RuleData): boolean =>
    JSON.stringify(before.data[name]) !== JSON.stringify(now.data[name]);
  const changed = [...names].filter((name) => name !== 'enabled' && differs(name));
  if (before.enabled !== now.enabled) return { did: now.enabled ? 'on' : 'off', changed };
  return { did: 'changed', changed };
}

function seen({ event, refusedBy }: Match) {
  const { id, subject, data } = event;
  return { id, title: titleOfEvent(event) ?? subject, at: data.observedAt, refusedBy };
}

/** Another id: a receiver skips one that it has, and what is recognised by it must not be taken for the change. */
function markedAsTest(event: ChangeEvent): ChangeEvent {
  return { ...event, id: `test_${randomUUID()}`, data: Object.assign({ test: true }, event.data) };
}

/** A reference is chosen by its name. */
function textsIn(value: unknown): string[] {
  if (Array.isArray(value)) return value.flatMap(textsIn);
  const text = typeof value === 'string' || typeof value === 'object' ? textOfValue(value) : null;
  return text === null || text === '' || text.length > LONGEST_VALUE ? [] : [text];
}
