/** Checks a raw configuration and makes a Config of it: the schema, the subscriptions, and rules across options. */
import { resolve } from 'node:path';
import { ChangefeedError, messageOf } from '../kit/errors.js';
import { destinationProblems } from '../delivery/handlers/destinations.js';
import type { Subscription } from '../delivery/handlers/handler.js';
import { isKind, isRefused } from '../delivery/handlers/kind.js';
import { buildSubscription, KINDS, type AnyKind } from '../delivery/handlers/registry.js';
import { selectionProblems, unknownWord, withLists, workspaceProblems } from '../delivery/handlers/selection.js';
import { isLoopback } from '../kit/schema/addresses.js';
import { problemsOf, type Explained } from '../kit/schema/explain.js';
import { pathText, problemsIn, type ConfigProblem, type Path } from '../kit/schema/problem.js';
import { knownLists, listsOf, listsThatDisagree } from './lists.js';
import { kindProblems } from './kinds.js';
import { parseRules, readRulesFile, saysNothing, type KnownToRules, type Rule, type RulesFile } from './rules.js';
import { configError, problemsText, type LocatedProblem, type Place } from './report.js';
import { configSchema, type Config, type ConfigInput, type HttpConfig, type WorkspaceConfig } from './schema.js';

export interface ParseOptions {
  /** First words of every message: the file, or "the environment". @defaultValue 'parseConfig' */
  source?: string;
  /** `REDIS_URL`: wins over the configuration. */
  redisUrl?: string | undefined;
  remedyOf?: Explained['remedyOf'];
  /** Where an option stands in a file: asked for the first problem only. */
  locate?: (path: Path) => Place | undefined;
  /** The folder from which `rules` is named, and how messages name a file. @defaultValue the working directory */
  folder?: string;
  nameOf?: (path: string) => string;
  /** What runs: where its file says nothing any more, these rules go on. */
  rulesBefore?: RulesFile | null | undefined;
  /** Called with what is wrong with rules, which are then left out. @defaultValue the configuration is refused */
  leaveOut?: ((problem: string) => void) | undefined;
  /** Problems of calls that were made while a configuration in code ran. */
  collected?: readonly LocatedProblem[];
}

/**
 * Checks a whole configuration and fills in its defaults.
 * @throws ChangefeedError CF_CONFIG_INVALID with every problem found, one per line (and as `facts.problems`)
 */
export function parseConfig(raw: unknown, options: ParseOptions = {}): Config {
  const { source = 'parseConfig', redisUrl, remedyOf = remedyInFile, locate = () => undefined } = options;
  const { collected = [], folder = process.cwd(), nameOf = (path) => path } = options;
  const refuse = (found: readonly ConfigProblem[]): ChangefeedError => {
    const [first, ...others] = withoutRepeated([...found, ...collected]);
    // The place of one is enough to find the others, which say their paths.
    return configError(source, first === undefined ? [] : [{ place: locate(first.path), ...first }, ...others]);
  };
  const result = configSchema.safeParse(raw);
  const { subscriptions, problems } = buildSubscriptions(raw);
  if (!result.success) {
    const found = result.error.issues.flatMap((issue) => problemsOf(issue, { schema: configSchema, raw, remedyOf }));
    throw refuse([...found, ...problems]);
  }
  const { workspaces, key, destinations, people, redis, log, deadLetters, audit, serve, http, telemetry } = result.data;
  const lists = knownLists(result.data);
  const path = result.data.rules === undefined ? null : resolve(folder, result.data.rules);
  const file = path === null ? null : rulesFileOf(path, nameOf(path), options);
  const tokens = workspaceTokens('token', serve?.token, workspaces);
  const hintTokens = workspaceTokens('hintToken', serve?.hintToken, workspaces);
  problems.push(
    ...kindProblems(result.data.kinds),
    ...destinationProblems(destinations),
    ...repeated(workspaces.map((one, index) => ({ one, path: ['workspaces', index] }))),
    ...repeated(subscriptions),
    ...(key === undefined ? subscriptions : []).flatMap(({ one, path }) => workspaceProblems(one, workspaces, path)),
    ...(key === undefined && workspaces.length === 0 ? [NO_WORKSPACE] : []),
    ...listsThatDisagree(workspaces, 'object'),
    ...(serve === undefined ? [] : listsThatDisagree(workspaces, 'path')),
    ...subscriptions.flatMap(({ one, path }) => selectionProblems(one, lists, path)),
    ...workspaces.flatMap((one, index) => linkProblems(one, ['workspaces', index, 'links'])),
    ...tokens.problems,
    ...hintTokens.problems,
    ...sharedTokens(tokens, hintTokens),
    ...openToAll(http),
    ...consumerTokens(subscriptions, http),
    ...(redis.url !== undefined && redis.cluster !== undefined ? [TWO_ADDRESSES] : []),
  );
  if (problems.length + collected.length > 0) throw refuse(problems);
  const taken = subscriptions.map(({ one }) => one.name);
  const ruled = file === null ? [] : rulesIn(file, { destinations, workspaces, key, lists, taken }, options);
  const { cluster, ...others } = redis;
  return {
    ...{ workspaces, key, destinations, people, log, deadLetters, audit, http, telemetry },
    subscriptions: [
      ...subscriptions.map(({ one }) => withLists(one, lists)),
      ...ruled.flatMap(({ enabled, subscription }) => (enabled ? [subscription] : [])),
    ],
    rules: file && { ...file, all: ruled },
    redis: { ...others, url: redisUrl ?? redis.url ?? (cluster && `redis+cluster://${cluster.join(',')}`) },
    serve: serve
      ? { host: serve.host, port: serve.port, tokens: tokens.byWorkspace, hintTokens: hintTokens.byWorkspace }
      : null,
  };
}

/** What is checked already is returned as it is. @throws ChangefeedError CF_CONFIG_INVALID */
export function checkedConfig(given: ConfigInput | Config, source: string): Config {
  return isChecked(given) ? given : parseConfig(given, { source });
}

/** Recognised by a value that only checking makes: a copy of a checked configuration with other options is one too. */
function isChecked(given: ConfigInput | Config): given is Config {
  const config = given as { log?: { retention?: { ageMs?: unknown } } } | null | undefined;
  return typeof config?.log?.retention?.ageMs === 'number';
}

/** A variable that is not set is one problem, at the first option that uses it; where none is checked, at its env(). */
function withoutRepeated(problems: readonly LocatedProblem[]): LocatedProblem[] {
  return problems.filter((one) => {
    const same = problems.filter(({ variable }) => variable === one.variable);
    return one.variable === undefined || one === (same.find(({ path }) => path.length > 0) ?? same[0]);
  });
}

function remedyInFile(path: Path): string | undefined {
  if (!['token', 'baseUrl'].includes(String(path.at(-1)))) return undefined;
  return 'If it comes from an environment variable, that variable is not set.';
}

function rulesFileOf(path: string, source: string, { rulesBefore: before, leaveOut }: ParseOptions): RulesFile {
  try {
    const file = readRulesFile(path, source);
    return before?.path === path && saysNothing(file) ? before : file;
  } catch (error) {
    if (before?.path === path) return before;
    if (leaveOut === undefined) throw error;
    leaveOut(messageOf(error));
    return { path, source, text: '', revision: '' };
  }
}

function rulesIn(file: RulesFile, known: KnownToRules, { leaveOut }: ParseOptions): Rule[] {
  const { rules, problems } = parseRules(file, known);
  if (problems.length === 0) return rules;
  if (leaveOut === undefined) throw configError(file.source, problems);
  leaveOut(problemsText(file.source, problems));
  return rules;
}

interface Placed<One> {
  one: One;
  path: Path;
}

function buildSubscriptions(raw: unknown): { subscriptions: Placed<Subscription>[]; problems: ConfigProblem[] } {
  const built: ReturnType<typeof buildSubscriptions> = { subscriptions: [], problems: [] };
  const kinds: readonly AnyKind[] = [...KINDS, ...arrayIn(raw, 'kinds').filter(isKind)];
  for (const [index, entry] of arrayIn(raw, 'subscriptions').entries()) {
    const path = ['subscriptions', index];
    if (isRefused(entry)) continue;
    try {
      built.subscriptions.push({ one: buildSubscription(entry, kinds), path });
    } catch (error) {
      if (!(error instanceof ChangefeedError)) throw error;
      built.problems.push(...problemsIn(error).map((one) => ({ ...one, path: [...path, ...one.path] })));
    }
  }
  return built;
}

function arrayIn(raw: unknown, option: string): unknown[] {
  const given = Object(raw) as Record<string, unknown>;
  return Array.isArray(given[option]) ? (given[option] as unknown[]) : [];
}

/** Two with the same name would share their state or queue. */
function repeated(all: readonly Placed<{ name: string }>[]): ConfigProblem[] {
  return all.flatMap(({ one: { name }, path }) => {
    const first = all.find(({ one }) => one.name === name);
    if (first === undefined || first.path === path) return [];
    const problem = `found "${name}", the name of ${pathText(first.path)} too; allowed: each name once`;
    return [{ path: [...path, 'name'], problem }];
  });
}

/** A link for what the workspace does not have would never be seen. */
export function linkProblems(workspace: WorkspaceConfig, path: Path): ConfigProblem[] {
  const lists = listsOf([workspace]);
  return Object.keys(workspace.links).flatMap((word) => unknownWord(word, lists, [...path, word]));
}

const NO_WORKSPACE = {
  path: ['workspaces'],
  problem: 'found none, and no key, without which none can come at run time; allowed: one or more, or a key',
  suggestion: 'Set CHANGEFEED_KEY (openssl rand -base64 32), or name a workspace.',
};

const TWO_ADDRESSES = { path: ['redis', 'cluster'], problem: 'found it next to url; allowed: one of them' };

/** The page shows people's data: beyond this machine, it asks who is there. */
function openToAll({ host, tokens: { read, operate }, trustedProxy }: HttpConfig): ConfigProblem[] {
  const isOpen = !isLoopback(host) && read === undefined && operate === undefined && trustedProxy === undefined;
  const same = 'found the same token twice; allowed: a different one for each role';
  const open = `found "${host}", which other machines can reach; allowed without http.tokens or http.trustedProxy: 127.0.0.1, ::1 and localhost`;
  const suggestion = 'Set http.tokens.read and http.tokens.operate.';
  return [
    ...(read !== undefined && read === operate ? [{ path: ['http', 'tokens'], problem: same }] : []),
    ...(isOpen ? [{ path: ['http', 'host'], problem: open, suggestion }] : []),
  ];
}

/** A token of a consumer opens nothing else, and says which one asks. */
function consumerTokens(subscriptions: readonly Placed<Subscription>[], { tokens }: HttpConfig): ConfigProblem[] {
  return subscriptions.flatMap(({ one: { pull }, path }) => {
    if (pull === undefined) return [];
    const isOfPage = Object.values(tokens).some((token) => token !== undefined && pull.isToken(token));
    const isOfOther = subscriptions.some(
      ({ one: { pull: other } }) => other && other !== pull && pull.sharesToken(other),
    );
    if (!isOfPage && !isOfOther) return [];
    const where = isOfPage ? 'in http.tokens' : 'at another consumer';
    return [{ path: [...path, 'token'], problem: `found the same token ${where}; allowed: a token of its own` }];
  });
}

type WorkspaceTokens = ReturnType<typeof workspaceTokens>;

/** The token for hints stands in the addresses of webhooks; that of the mirror reads every record. */
function sharedTokens({ byWorkspace }: WorkspaceTokens, hints: WorkspaceTokens): ConfigProblem[] {
  const reading = new Set(byWorkspace.values());
  if (![...hints.byWorkspace.values()].some((token) => reading.has(token))) return [];
  const problem = 'found the same token as in serve.token; allowed: another one, because it stands in addresses';
  return [{ path: ['serve', 'hintToken'], problem }];
}

/** The server selects the workspace by the token, so each workspace needs its own. */
function workspaceTokens(
  option: 'token' | 'hintToken',
  given: string | Readonly<Record<string, string>> | undefined,
  workspaces: readonly WorkspaceConfig[],
): { byWorkspace: ReadonlyMap<string, string>; problems: ConfigProblem[] } {
  const path = ['serve', option];
  const names = workspaces.map(({ name }) => name);
  if (typeof given === 'string' && names.length > 1) {
    const problem = `found one token for ${names.length} workspaces; allowed: an object with one token for each (${names.join(', ')})`;
    return { byWorkspace: new Map(), problems: [{ path, problem }] };
  }
  const entries: [string, string][] =
    typeof given === 'string' ? names.map((name) => [name, given]) : Object.entries(given ?? {});
  const unknown = entries.filter(([name]) => !names.includes(name));
  const problem = `there is no such workspace; allowed: ${names.join(', ')}`;
  const problems = unknown.map(([name]): ConfigProblem => ({ path: [...path, name], problem }));
  if (new Set(entries.map(([, token]) => token)).size < entries.length)
    problems.push({ path, problem: 'found the same token for two workspaces; allowed: a different one for each' });
  return { byWorkspace: new Map(entries), problems };
}
