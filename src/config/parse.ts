/** Checks a raw configuration and makes a Config of it: the schema, the subscriptions, and rules across options. */
import type { Lists } from '../crm/lists/lists.js';
import { ChangefeedError } from '../errors.js';
import { EVENT_TYPES, isOwnType } from '../events/catalogue.js';
import type { Derivation } from '../handlers/derive.js';
import { didYouMean } from '../schema-kit/did-you-mean.js';
import { compileTypePattern } from '../events/pattern.js';
import type { Subscription } from '../handlers/handler.js';
import { isRefused, problemsIn } from '../handlers/kind.js';
import { buildSubscription } from '../handlers/registry.js';
import { selectionProblems, withLists } from '../handlers/selection.js';
import { isLoopback } from '../schema-kit/addresses.js';
import { pathIn, sentenceOf, type Explained } from '../schema-kit/explain.js';
import { listsOf, listsThatDisagree } from './lists.js';
import { configSchema, type Config, type ConfigInput, type HttpConfig, type WorkspaceConfig } from './schema.js';

export interface ParseOptions {
  /** First words of every message: the file, or "the environment". @defaultValue 'parseConfig' */
  source?: string;
  /** `REDIS_URL`: wins over the configuration. */
  redisUrl?: string | undefined;
  remedyOf?: Explained['remedyOf'];
  /** Where an option stands in a file. */
  locate?: (path: readonly PropertyKey[]) => Place | undefined;
  /** Problems of calls that were made while a configuration in code ran. */
  collected?: readonly Problem[];
}

export interface Problem {
  /** The path, what was found, what is allowed. */
  sentence: string;
  place?: Place | undefined;
}

/** A place in a file of the configuration. */
export interface Place {
  /** Relative to the working directory. */
  file: string;
  /** From 1. */
  line: number;
  column?: number;
  /** The lines around it. */
  frame?: string;
}

/**
 * Checks a whole configuration and fills in its defaults.
 * @throws ChangefeedError CF_CONFIG_INVALID with every problem found, one per line (and as `facts.problems`)
 */
export function parseConfig(raw: unknown, options: ParseOptions = {}): Config {
  const {
    source = 'parseConfig',
    redisUrl,
    remedyOf = remedyInFile,
    locate = () => undefined,
    collected = [],
  } = options;
  const refuse = (sentences: readonly string[]): ChangefeedError => {
    const located = sentences.map((sentence) => ({ sentence, place: locate(pathIn(sentence)) }));
    return invalidConfig(source, withoutRepeated([...located, ...collected]));
  };
  const result = configSchema.safeParse(raw);
  const { subscriptions, problems } = buildSubscriptions(raw);
  if (!result.success) {
    const sentences = result.error.issues.map((issue) => sentenceOf(issue, { schema: configSchema, raw, remedyOf }));
    throw refuse([...sentences, ...problems]);
  }
  const { workspaces, redis, log, deadLetters, serve, http, telemetry } = result.data;
  const derive = result.data.derive
    .map((one, index) => ({ one, path: `derive[${index}]` }))
    .filter(({ one }) => !isRefused(one));
  const lists = listsOf(workspaces);
  const tokens = workspaceTokens('serve.token', serve?.token, workspaces);
  const hintTokens = workspaceTokens('serve.hintToken', serve?.hintToken, workspaces);
  const readers = [...subscriptions, ...derive];
  problems.push(
    ...repeated(workspaces.map((one, index) => ({ one, path: `workspaces[${index}]` }))),
    // Derive functions run as subscriptions: their names are names of queues too.
    ...repeated(readers),
    ...readers.flatMap((reader) => unknownWorkspaces(reader, workspaces)),
    ...listsThatDisagree(workspaces, 'object'),
    ...derive.flatMap((derivation) => emitsOfNoList(derivation, lists)),
    ...(serve === undefined ? [] : listsThatDisagree(workspaces, 'path')),
    ...readers.flatMap(({ one, path }) => selectionProblems(one, lists, path)),
    ...subscriptions.flatMap((subscription) => unknownTypes(subscription, derive)),
    ...tokens.problems,
    ...hintTokens.problems,
    ...sharedTokens(tokens, hintTokens),
    ...openToAll(http),
  );
  if (problems.length + collected.length > 0) throw refuse(problems);
  return {
    workspaces,
    subscriptions: subscriptions.map(({ one }) => withLists(one, lists)),
    derive: derive.map(({ one }) => withLists(one, lists)),
    redis: { ...redis, url: redisUrl ?? redis.url },
    log,
    deadLetters,
    serve:
      serve === undefined
        ? null
        : { host: serve.host, port: serve.port, tokens: tokens.byWorkspace, hintTokens: hintTokens.byWorkspace },
    http,
    telemetry,
  };
}

/**
 * A configuration as `defineConfig` returns it, checked; one that `parseConfig` or `loadConfig` has checked, as it is.
 * @param source first words of every message
 * @throws ChangefeedError CF_CONFIG_INVALID
 */
export function checkedConfig(given: ConfigInput | Config, source: string): Config {
  return isChecked(given) ? given : parseConfig(given, { source });
}

/** By a value that only checking makes: a copy of a checked configuration with other options is one too. */
function isChecked(given: ConfigInput | Config): given is Config {
  const config = given as { log?: { retention?: { ageMs?: unknown } } } | null | undefined;
  return typeof config?.log?.retention?.ageMs === 'number';
}

/** A variable that is not set is one problem, at the first option that uses it; where none is checked, at its env(). */
function withoutRepeated(problems: readonly Problem[]): Problem[] {
  const variableOf = ({ sentence }: Problem): string | undefined =>
    /environment variable (\S+) is not set/.exec(sentence)?.[1];
  const isOption = ({ sentence }: Problem): boolean => !sentence.startsWith('env(');
  return problems.filter((one) => {
    const variable = variableOf(one);
    const same = problems.filter((other) => variableOf(other) === variable);
    return variable === undefined || one === (same.find(isOption) ?? same[0]);
  });
}

/**
 * The error that lists all problems of a configuration, one per line. `facts.report` has the lines of the files as well.
 * @param source the file, or "the environment"
 * @param problems at least one
 */
export function invalidConfig(source: string, problems: readonly Problem[]): ChangefeedError {
  const [only] = problems.length === 1 ? problems : [];
  const text = (lines: readonly string[]): string =>
    only === undefined ? [`${source}: ${problems.length} problems:`, ...lines].join('\n') : lines.join('\n');
  const indent = only === undefined ? '  ' : '';
  const line = ({ sentence, place }: Problem): string =>
    place === undefined
      ? `${only === undefined ? indent : `${source}: `}${sentence}`
      : `${indent}${[place.file, place.line, place.column].filter((part) => part !== undefined).join(':')}: ${sentence}`;
  return new ChangefeedError('CF_CONFIG_INVALID', {
    message: text(problems.map(line)),
    source,
    problems: problems.map(({ sentence }) => sentence),
    report: text(
      problems.map((one) => [line(one), ...(one.place?.frame === undefined ? [] : [one.place.frame])].join('\n')),
    ),
  });
}

function remedyInFile(path: string): string | undefined {
  if (!/\.(token|baseUrl)$/.test(path)) return undefined;
  return 'If it comes from an environment variable, that variable is not set.';
}

/** An entry of the configuration with its path, such as `subscriptions[0]`. */
interface Placed<One> {
  one: One;
  path: string;
}

interface Built {
  subscriptions: Placed<Subscription>[];
  problems: string[];
}

function buildSubscriptions(raw: unknown): Built {
  const built: Built = { subscriptions: [], problems: [] };
  const given: unknown = typeof raw === 'object' && raw !== null && 'subscriptions' in raw ? raw.subscriptions : [];
  for (const [index, entry] of (Array.isArray(given) ? (given as unknown[]) : []).entries()) {
    const path = `subscriptions[${index}]`;
    if (isRefused(entry)) continue;
    try {
      built.subscriptions.push({ one: buildSubscription(entry, path), path });
    } catch (error) {
      if (!(error instanceof ChangefeedError)) throw error;
      built.problems.push(...problemsIn(error));
    }
  }
  return built;
}

/** Two with the same name would share their state or queue. */
function repeated(all: readonly Placed<{ name: string }>[]): string[] {
  return all.flatMap(({ one: { name }, path }) => {
    const first = all.find(({ one }) => one.name === name);
    return first === undefined || first.path === path
      ? []
      : [`${path}.name: found "${name}", the name of ${first.path} too; allowed: each name once.`];
  });
}

/** A subscription to a workspace that does not exist would silently receive nothing. */
function unknownWorkspaces(
  { one: { workspaces = [] }, path }: Placed<Pick<Subscription, 'workspaces'>>,
  all: readonly WorkspaceConfig[],
): string[] {
  const names = all.map(({ name }) => name);
  return workspaces
    .filter((name) => !names.includes(name))
    .map((name) => `${path}.workspaces: found "${name}"; allowed: the names of workspaces (${names.join(', ')}).`);
}

/** A derive function makes events of records, so the second word of its types is the object of a list. */
function emitsOfNoList({ one: { emits }, path }: Placed<Derivation>, lists: Lists): string[] {
  const objects = lists.all.map(({ object }) => object);
  return emits.flatMap((type, at) =>
    objects.includes(type.split('.')[1] ?? '')
      ? []
      : [
          `${path}.emits[${at}]: found "${type}"; allowed: <yours>.<object>.<verb>, the object one of ${objects.join(', ')}.`,
        ],
  );
}

/** A subscription to an event type that no derive function emits would silently receive nothing. */
function unknownTypes({ one: { on }, path }: Placed<Subscription>, derive: readonly Placed<Derivation>[]): string[] {
  const emitted = derive.flatMap(({ one: { emits } }) => emits);
  return on.flatMap((pattern, at) => {
    if (!isOwnType(pattern) || emitted.some(compileTypePattern(pattern))) return [];
    const allowed = emitted.length === 0 ? 'none, for there is no derive function' : emitted.join(', ');
    const meant = didYouMean(pattern, [...emitted, ...EVENT_TYPES]);
    return [
      `${path}.on[${at}]: found "${pattern}", which nothing emits${meant}; allowed besides crm.* and changefeed.*: ${allowed}.`,
    ];
  });
}

/** The page shows people's data: beyond this machine, it asks who is there. */
function openToAll({ host, tokens, trustedProxy }: HttpConfig): string[] {
  const { read, operate } = tokens;
  const problems =
    read !== undefined && read === operate
      ? ['http.tokens: found the same token twice; allowed: a different one for each role.']
      : [];
  if (isLoopback(host) || read !== undefined || operate !== undefined || trustedProxy !== undefined) return problems;
  return [
    ...problems,
    `http.host: found "${host}", which other machines can reach; allowed without http.tokens or http.trustedProxy: 127.0.0.1, ::1 and localhost. Set http.tokens.read and http.tokens.operate.`,
  ];
}

interface WorkspaceTokens {
  byWorkspace: ReadonlyMap<string, string>;
  problems: string[];
}

/** The token for hints stands in the addresses of webhooks; that of the mirror reads every record. */
function sharedTokens({ byWorkspace }: WorkspaceTokens, hints: WorkspaceTokens): string[] {
  const reading = new Set(byWorkspace.values());
  return [...hints.byWorkspace.values()].some((token) => reading.has(token))
    ? ['serve.hintToken: found the same token as in serve.token; allowed: another one, because it stands in addresses.']
    : [];
}

/** The server selects the workspace by the token, so each workspace needs its own. */
function workspaceTokens(
  option: 'serve.token' | 'serve.hintToken',
  given: string | Readonly<Record<string, string>> | undefined,
  workspaces: readonly WorkspaceConfig[],
): WorkspaceTokens {
  const names = workspaces.map(({ name }) => name);
  if (typeof given === 'string' && names.length > 1) {
    const problem = `${option}: found one token for ${names.length} workspaces; allowed: an object with one token for each (${names.join(', ')}).`;
    return { byWorkspace: new Map(), problems: [problem] };
  }
  const entries: [string, string][] =
    typeof given === 'string' ? names.map((name) => [name, given]) : Object.entries(given ?? {});
  const unknown = entries.filter(([name]) => !names.includes(name)).map(([name]) => name);
  const problems = unknown.map(
    (name) => `${option}.${name}: there is no such workspace; allowed: ${names.join(', ')}.`,
  );
  if (new Set(entries.map(([, token]) => token)).size < entries.length) {
    problems.push(`${option}: found the same token for two workspaces; allowed: a different one for each.`);
  }
  return { byWorkspace: new Map(entries), problems };
}
