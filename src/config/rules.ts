/**
 * Rules: subscriptions as data in a file of their own, which the page writes and a person may edit. A rule says what is selected and what is
 * said; where it is sent, a destination of the configuration says. Programs, code, addresses and headers cannot be expressed.
 */
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import type { z } from 'zod';
import type { Lists } from '../crm/lists/lists.js';
import type { Destination } from '../delivery/handlers/destinations.js';
import type { Subscription } from '../delivery/handlers/handler.js';
import { parseOptions } from '../delivery/handlers/kind.js';
import { messageOptions } from '../delivery/handlers/message/message.js';
import { subscriptionShape } from '../delivery/handlers/options.js';
import { buildSubscription } from '../delivery/handlers/registry.js';
import { reportOptions, reporting } from '../delivery/handlers/report.js';
import { selectionProblems, withLists, workspaceProblems } from '../delivery/handlers/selection.js';
import { countConditions } from '../delivery/handlers/where.js';
import { ChangefeedError, describe } from '../kit/errors.js';
import { didYouMean } from '../kit/schema/did-you-mean.js';
import { matching, strictOptions, text, yesOrNo } from '../kit/schema/fields.js';
import { problemsIn, type ConfigProblem, type Path } from '../kit/schema/problem.js';
import { readText } from './env-file.js';
import { DEEPEST, faultInJson, isDeeper, optionInJson, placeInJson } from './json-text.js';
import { knownLists } from './lists.js';
import type { LocatedProblem, Place } from './report.js';
import type { Config } from './schema.js';

export const MOST_RULES = 200;
const MOST_CONDITIONS = 5;
const LONGEST_TEMPLATE = 4_000;
const LONGEST_FILE = 4_000_000;

const {
  on,
  unchanged,
  workspaces,
  lists,
  class: changeClass,
  fields,
  from,
  notFrom,
  where,
  include,
  language,
} = subscriptionShape;
const { digest, mostPerMinute, mention, template } = messageOptions.shape;
/** What only some destinations have. */
const OF_MESSAGES = {
  message: [],
  email: ['mostPerMinute', 'mention'],
  webhook: ['digest', 'mostPerMinute', 'mention', 'template'],
} as const;

/** What a report has besides; the rest is about events. */
const OF_REPORTS: readonly string[] = ['report', 'workspaces', 'language'];

const A_FILE = 'an object { "rules": [ … ] }';

const ruleOptions = strictOptions({
  /** Unique; the subscription is called `rule-<id>`. */
  id: matching(/^[a-z0-9][a-z0-9-]{0,39}$/, "small letters, digits and '-', 1 to 40 characters"),
  /** What people call it. @defaultValue its id */
  title: text('what people call the rule').max(200, { error: 'at most 200 characters' }).optional(),
  /** False: it is switched off. @defaultValue true */
  enabled: yesOrNo.default(true),
  /** The name of a destination. */
  to: text('the name of a destination'),
  ...{
    on,
    unchanged,
    workspaces,
    lists,
    class: changeClass,
    fields,
    from,
    notFrom,
    include,
    language,
    digest,
    mostPerMinute,
    mention,
  },
  where: where.refine((given) => given === undefined || countConditions(Object(given) as object) <= MOST_CONDITIONS, {
    error: `at most ${MOST_CONDITIONS} conditions`,
  }),
  /** In place of events: at a time of day, what is open and late of the todos, or the changes since the report before. @defaultValue none */
  report: reportOptions.optional(),
  template: template.refine((given = '') => given.length <= LONGEST_TEMPLATE, {
    error: `a text of at most ${LONGEST_TEMPLATE.toLocaleString('en')} characters`,
  }),
});

export const RULE_OPTIONS = Object.keys(ruleOptions.shape) as readonly (keyof RuleData)[];

/** A rule as it is written. */
export type RuleData = z.input<typeof ruleOptions>;

export interface Rule {
  id: string;
  enabled: boolean;
  data: RuleData;
  /** Also of a rule that is switched off: it can be tried. */
  subscription: Subscription;
}

export interface RulesFile {
  path: string;
  /** As messages name it. */
  source: string;
  text: string;
  /** Changes with the text. */
  revision: string;
}

/** What rules are checked with. */
export interface KnownToRules {
  destinations: Readonly<Record<string, Destination>>;
  workspaces: readonly { name: string }[];
  /** With a key, further workspaces come at run time. */
  key?: string | undefined;
  lists: Lists;
  /** The names of all other subscriptions. */
  taken: readonly string[];
}

const ruleNameOf = (id: string): string => `rule-${id}`;

/** Not even that it has none: where there were rules, they are missing. */
export const saysNothing = ({ text: content }: Pick<RulesFile, 'text'>): boolean => content.trim() === '';

/** A file that does not exist has no rules: the first one that is saved makes it. @throws ChangefeedError CF_CONFIG_UNLOADABLE */
export function readRulesFile(path: string, source: string): RulesFile {
  const content = existsSync(path) ? readText(path, source) : '';
  return { path, source, text: content, revision: createHash('sha256').update(content).digest('hex') };
}

/** What cannot be read says as little as what is gone. Null: the configuration names none. */
export function readOrNothing({ rules }: Config): RulesFile | null {
  if (rules === null) return null;
  const { path, source } = rules;
  try {
    return readRulesFile(path, source);
  } catch {
    return { path, source, text: '', revision: '' };
  }
}

export function knownTo({ rules, destinations, workspaces, key, subscriptions }: Config): KnownToRules {
  const ruled = new Set(rules?.all.map(({ subscription }) => subscription.name));
  const taken = subscriptions.map(({ name }) => name).filter((name) => !ruled.has(name));
  return { destinations, workspaces, key, lists: knownLists({ workspaces, key }), taken };
}

/** The rules as the file has them now: it may have changed since the configuration was read. */
export function rulesOf(config: Config) {
  const file = readOrNothing(config);
  if (file === null) return { file, rules: [], problems: [] };
  return { file, ...parseRules(file, knownTo(config)) };
}

/** The rules in the order of the file, without those that have a problem. */
export function parseRules(file: RulesFile, known: KnownToRules): { rules: Rule[]; problems: LocatedProblem[] } {
  const { source, text: content } = file;
  if (saysNothing(file)) return { rules: [], problems: [] };
  const at = (offset: number): Place => placeInJson(source, content, offset);
  const refused = (problem: string, path: Path, offset = optionInJson(content, path)) => ({
    rules: [],
    problems: [{ path, problem, place: at(offset) }],
  });
  const fault = faultInJson(content);
  if (fault !== undefined) return refused(`it cannot be read as JSON: ${fault.reason}`, [], fault.offset);
  const { rules: given, ...others }: { rules?: unknown } = readable(content);
  const [stranger] = Object.keys(others);
  if (stranger !== undefined) return refused(`there is no such option; allowed: ${A_FILE}`, [stranger]);
  if (!Array.isArray(given)) return refused(`found ${describe(given)}; allowed: ${A_FILE}`, ['rules']);
  if (given.length > MOST_RULES) return refused(`found ${given.length} rules; allowed: ${MOST_RULES}`, ['rules']);
  const rules: Rule[] = [];
  const problems: LocatedProblem[] = [];
  for (const [index, data] of (given as unknown[]).entries()) {
    const outcome = buildRule(data, known, rules);
    if ('rule' in outcome) rules.push(outcome.rule);
    else problems.push(...outcome.problems.map((one) => ({ ...one, path: ['rules', index, ...one.path] })));
  }
  const [first, ...more] = problems;
  if (first === undefined) return { rules, problems };
  return { rules, problems: [{ ...first, place: at(optionInJson(content, first.path)) }, ...more] };
}

/** Empty where it cannot be one of ours: the rest of the parsing would run out of stack, or of time. */
function readable(content: string): { rules?: unknown } {
  if (content.length > LONGEST_FILE) return {};
  const json = JSON.parse(content) as unknown;
  return typeof json !== 'object' || json === null || Array.isArray(json) || isDeeper(json, DEEPEST) ? {} : json;
}

/** @param others of the same file: an id is there once. The paths of problems begin at the rule. */
export function buildRule(
  data: unknown,
  known: KnownToRules,
  others: readonly { id: string }[] = [],
): { rule: Rule } | { problems: ConfigProblem[] } {
  const owner = `rule ${JSON.stringify(idIn(data))}`;
  try {
    const { id, enabled, to } = parseOptions(ruleOptions, data, 'rule');
    const { id: _id, title, enabled: _enabled, to: _to, ...options } = data as RuleData;
    const subscription = { ...options, name: ruleNameOf(id) };
    const found = [
      ...(others.some((one) => one.id === id)
        ? [{ path: ['id'], problem: 'found it twice; allowed: each id once' }]
        : []),
      ...(known.taken.includes(subscription.name) ? [nameTaken(subscription.name)] : []),
      ...destinationOf(to, options, known),
    ];
    if (found.length > 0) return { problems: found.map((one) => ({ owner, ...one })) };
    const built = builtFrom(known.destinations[to], subscription);
    if (built === null) return { problems: [{ owner, path: ['to'], problem: `"${to}" takes no reports` }] };
    const unknown = known.key === undefined ? workspaceProblems(built, known.workspaces, []) : [];
    const wrong = [...selectionProblems(built, known.lists, []), ...unknown];
    if (wrong.length > 0) return { problems: wrong.map((one) => ({ ...one, owner })) };
    const named = { ...withLists(built, known.lists), title: title ?? id, to };
    return { rule: { id, enabled, data: data as RuleData, subscription: named } };
  } catch (error) {
    if (!(error instanceof ChangefeedError)) throw error;
    return { problems: problemsIn(error).map((one) => ({ ...one, owner })) };
  }
}

/** An event that no rule selects: a report is about none. */
const NO_EVENTS = { on: ['changefeed.problem.over'] } as const;

/** The receiver that the destination makes, or its reports. */
function builtFrom(
  destination: Destination | undefined,
  { report, ...options }: { report?: RuleData['report'] } & object,
) {
  if (report === undefined) return buildSubscription({ ...destination, ...options });
  return reporting(buildSubscription({ ...destination, ...NO_EVENTS, ...options }), reportOptions.parse(report));
}

function nameTaken(name: string): ConfigProblem {
  return { path: ['id'], problem: `the configuration has a subscription "${name}"; give the rule another id` };
}

function destinationOf(to: string, options: object, { destinations }: KnownToRules): ConfigProblem[] {
  const names = Object.keys(destinations);
  const destination = Object.hasOwn(destinations, to) ? destinations[to] : undefined;
  if (destination === undefined) {
    const allowed = names.length === 0 ? 'nothing, as the configuration names no destinations' : names.join(', ');
    return [{ path: ['to'], problem: `there is no destination "${to}"${didYouMean(to, names)}; allowed: ${allowed}` }];
  }
  if ('report' in options) {
    const strangers = Object.keys(options).filter((option) => !OF_REPORTS.includes(option));
    return strangers.map((option) => ({
      path: [option],
      problem: 'found it in a report; allowed: in rules about events',
    }));
  }
  const ofChats = OF_MESSAGES[destination.handler].filter((option) => option in options);
  return ofChats.map((option) => ({ path: [option], problem: `found it, and "${to}" is no chat; allowed: for chats` }));
}

function idIn(data: unknown): string {
  const { id } = Object(data) as { id?: unknown };
  return typeof id === 'string' ? id.slice(0, 40) : 'without an id';
}
