/** Checks a raw configuration and makes a Config of it: the schema, the subscriptions, and rules across options. */
import type { Lists } from '../crm/lists/lists.js';
import { ChangefeedError } from '../errors.js';
import { EVENT_TYPES, isOwnType } from '../events/catalogue.js';
import type { Derivation } from '../handlers/derive.js';
import { didYouMean } from '../schema-kit/did-you-mean.js';
import { compileTypePattern } from '../events/pattern.js';
import type { Subscription } from '../handlers/handler.js';
import { buildSubscription } from '../handlers/registry.js';
import { selectionProblems, withLists } from '../handlers/selection.js';
import { isLoopback } from '../schema-kit/addresses.js';
import { sentenceOf, type Explained } from '../schema-kit/explain.js';
import { listsOf, listsThatDisagree } from './lists.js';
import { configSchema, type Config, type HttpConfig, type WorkspaceConfig } from './schema.js';

export interface ParseOptions {
  /** First words of every message: the file, or "the environment". */
  source: string;
  /** `REDIS_URL`: wins over the configuration. */
  redisUrl?: string | undefined;
  remedyOf?: Explained['remedyOf'];
}

/**
 * Checks a whole configuration and fills in its defaults.
 * @throws ChangefeedError CF_CONFIG_INVALID with every problem found, one per line (and as `facts.problems`)
 */
export function parseConfig(raw: unknown, { source, redisUrl, remedyOf = remedyInFile }: ParseOptions): Config {
  const result = configSchema.safeParse(raw);
  const { subscriptions, problems } = buildSubscriptions(raw);
  if (!result.success) {
    const sentences = result.error.issues.map((issue) => sentenceOf(issue, { raw, remedyOf }));
    throw invalidConfig(source, [...sentences, ...problems]);
  }
  const { workspaces, derive, redis, log, deadLetters, serve, http } = result.data;
  const lists = listsOf(workspaces);
  const tokens = mirrorTokens(serve?.token, workspaces);
  problems.push(
    ...repeated(placed(workspaces, 'workspaces')),
    // Derive functions run as subscriptions: their names are names of queues too.
    ...repeated([...placed(subscriptions, 'subscriptions'), ...placed(derive, 'derive')]),
    ...unknownWorkspaces(subscriptions, workspaces, 'subscriptions'),
    ...unknownWorkspaces(derive, workspaces, 'derive'),
    ...listsThatDisagree(workspaces, 'object'),
    ...emitsOfNoList(derive, lists),
    ...(serve === undefined ? [] : listsThatDisagree(workspaces, 'path')),
    ...subscriptions.flatMap((one, index) => selectionProblems(one, lists, `subscriptions[${index}]`)),
    ...derive.flatMap((one, index) => selectionProblems(one, lists, `derive[${index}]`)),
    ...unknownTypes(subscriptions, derive),
    ...tokens.problems,
    ...openToAll(http),
  );
  if (problems.length > 0) throw invalidConfig(source, problems);
  return {
    workspaces,
    subscriptions: subscriptions.map((one) => withLists(one, lists)),
    derive: derive.map((one) => withLists(one, lists)),
    redis: { ...redis, url: redisUrl ?? redis.url },
    log,
    deadLetters,
    serve: serve === undefined ? null : { host: serve.host, port: serve.port, tokens: tokens.byWorkspace },
    http,
  };
}

/**
 * The error that lists all problems of a configuration, one per line.
 * @param source the file, or "the environment"
 * @param problems sentences; at least one
 */
export function invalidConfig(source: string, problems: readonly string[]): ChangefeedError {
  const message =
    problems.length === 1
      ? `${source}: ${problems[0] ?? ''}`
      : `${source}: ${problems.length} problems:\n${problems.map((problem) => `  ${problem}`).join('\n')}`;
  return new ChangefeedError('CF_CONFIG_INVALID', { message, source, problems });
}

function remedyInFile(path: string): string | undefined {
  if (!/\.(token|baseUrl)$/.test(path)) return undefined;
  return 'If it comes from an environment variable, that variable is not set.';
}

interface Built {
  subscriptions: Subscription[];
  problems: string[];
}

function buildSubscriptions(raw: unknown): Built {
  const built: Built = { subscriptions: [], problems: [] };
  const given: unknown = typeof raw === 'object' && raw !== null && 'subscriptions' in raw ? raw.subscriptions : [];
  for (const [index, entry] of (Array.isArray(given) ? (given as unknown[]) : []).entries()) {
    try {
      built.subscriptions.push(buildSubscription(entry, `subscriptions[${index}]`));
    } catch (error) {
      if (!(error instanceof ChangefeedError)) throw error;
      built.problems.push(error.message);
    }
  }
  return built;
}

interface Placed {
  name: string;
  /** `subscriptions[0]` */
  path: string;
}

function placed(named: readonly { name: string }[], what: string): Placed[] {
  return named.map(({ name }, index) => ({ name, path: `${what}[${index}]` }));
}

/** Two with the same name would share their state or queue. */
function repeated(all: readonly Placed[]): string[] {
  return all.flatMap(({ name, path }) => {
    const first = all.find((other) => other.name === name);
    return first === undefined || first.path === path
      ? []
      : [`${path}.name: found "${name}", the name of ${first.path} too; allowed: each name once.`];
  });
}

/** A subscription to a workspace that does not exist would silently receive nothing. */
function unknownWorkspaces(
  subscriptions: readonly Pick<Subscription, 'workspaces'>[],
  workspaces: readonly WorkspaceConfig[],
  what: string,
): string[] {
  const names = workspaces.map(({ name }) => name);
  return subscriptions.flatMap((subscription, index) =>
    (subscription.workspaces ?? [])
      .filter((name) => !names.includes(name))
      .map(
        (name) =>
          `${what}[${index}].workspaces: found "${name}"; allowed: the names of workspaces (${names.join(', ')}).`,
      ),
  );
}

/** A derive function makes events of records, so the second word of its types is the object of a list. */
function emitsOfNoList(derive: readonly Derivation[], lists: Lists): string[] {
  const objects = lists.all.map(({ object }) => object);
  return derive.flatMap(({ emits }, index) =>
    emits.flatMap((type, at) =>
      objects.includes(type.split('.')[1] ?? '')
        ? []
        : [
            `derive[${index}].emits[${at}]: found "${type}"; allowed: <yours>.<object>.<verb>, the object one of ${objects.join(', ')}.`,
          ],
    ),
  );
}

/** A subscription to an event type that no derive function emits would silently receive nothing. */
function unknownTypes(subscriptions: readonly Subscription[], derive: readonly Derivation[]): string[] {
  const emitted = derive.flatMap(({ emits }) => emits);
  return subscriptions.flatMap(({ on }, index) =>
    on.flatMap((pattern, at) => {
      if (!isOwnType(pattern) || emitted.some(compileTypePattern(pattern))) return [];
      const allowed = emitted.length === 0 ? 'none, for there is no derive function' : emitted.join(', ');
      const meant = didYouMean(pattern, [...emitted, ...EVENT_TYPES]);
      return [
        `subscriptions[${index}].on[${at}]: found "${pattern}", which nothing emits${meant}; allowed besides crm.* and changefeed.*: ${allowed}.`,
      ];
    }),
  );
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

/** The mirror selects the workspace by the token, so each workspace needs its own. */
function mirrorTokens(
  given: string | Readonly<Record<string, string>> | undefined,
  workspaces: readonly WorkspaceConfig[],
): { byWorkspace: ReadonlyMap<string, string>; problems: string[] } {
  const names = workspaces.map(({ name }) => name);
  if (typeof given === 'string' && names.length > 1) {
    const problem = `serve.token: found one token for ${names.length} workspaces; allowed: an object with one token for each (${names.join(', ')}).`;
    return { byWorkspace: new Map(), problems: [problem] };
  }
  const entries: [string, string][] =
    typeof given === 'string' ? names.map((name) => [name, given]) : Object.entries(given ?? {});
  const unknown = entries.filter(([name]) => !names.includes(name)).map(([name]) => name);
  const problems = unknown.map(
    (name) => `serve.token.${name}: there is no such workspace; allowed: ${names.join(', ')}.`,
  );
  if (new Set(entries.map(([, token]) => token)).size < entries.length) {
    problems.push('serve.token: found the same token for two workspaces; allowed: a different one for each.');
  }
  return { byWorkspace: new Map(entries), problems };
}
