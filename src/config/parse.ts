/** From what a file or the environment says to a Config. */
import { ChangefeedError } from '../errors.js';
import type { Subscription } from '../handlers/handler.js';
import { buildSubscription } from '../handlers/registry.js';
import { invalidConfig, sentenceOf, type IssueContext } from './issues.js';
import { configSchema, type Config, type WorkspaceConfig } from './schema.js';

export interface ParseOptions {
  /** Opens every message: the file, or "the environment". */
  source: string;
  /** `REDIS_URL`: wins over the configuration. */
  redisUrl?: string | undefined;
  remedyOf?: IssueContext['remedyOf'];
}

/**
 * Checks a whole configuration and fills in its defaults.
 * @throws ChangefeedError CF_CONFIG_INVALID with every problem found, one per line (and as `facts.problems`)
 */
export function parseConfig(given: unknown, { source, redisUrl, remedyOf = remedyInFile }: ParseOptions): Config {
  const raw = spellOut(given);
  const result = configSchema.safeParse(raw);
  const { subscriptions, problems } = buildSubscriptions(raw);
  if (!result.success) {
    const sentences = result.error.issues.map((issue) => sentenceOf(issue, { raw, remedyOf }));
    throw invalidConfig(source, [...sentences, ...problems]);
  }
  const { workspaces, redis, log, deadLetters, serve } = result.data;
  problems.push(...repeated(workspaces, 'workspaces'), ...repeated(subscriptions, 'subscriptions'));
  problems.push(...strangers(subscriptions, workspaces));
  const tokens = mirrorTokens(serve?.token, workspaces);
  problems.push(...tokens.problems);
  if (problems.length > 0) throw invalidConfig(source, problems);
  return {
    workspaces,
    subscriptions,
    redis: { url: redisUrl ?? redis.url, prefix: redis.prefix },
    log: { retention: { ageMs: log.retention.age, events: log.retention.events } },
    serve: serve === undefined ? null : { host: serve.host, port: serve.port, tokens: tokens.byWorkspace },
    deadLetters: { retention: { ageMs: deadLetters.retention.age, count: deadLetters.retention.count } },
  };
}

/** `redis: '…'` is short for `redis: { url: '…' }`. */
function spellOut(given: unknown): unknown {
  if (typeof given !== 'object' || given === null || !('redis' in given)) return given;
  return typeof given.redis === 'string' ? { ...given, redis: { url: given.redis } } : given;
}

function remedyInFile(path: string): string | undefined {
  if (!/\.(token|baseUrl)$/.test(path)) return undefined;
  return 'If it comes from an environment variable, that one is not set.';
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

/** A second one of the same name would share the first one's state or queue. */
function repeated(named: readonly { name: string }[], what: string): string[] {
  return named.flatMap(({ name }, index) => {
    const first = named.findIndex((other) => other.name === name);
    return first === index
      ? []
      : [`${what}[${index}].name: found "${name}", the name of ${what}[${first}] too; allowed: each name once.`];
  });
}

/** A subscription to a workspace that does not exist would wait for ever without a word. */
function strangers(subscriptions: readonly Subscription[], workspaces: readonly WorkspaceConfig[]): string[] {
  const names = workspaces.map(({ name }) => name);
  return subscriptions.flatMap((subscription, index) =>
    (subscription.workspaces ?? [])
      .filter((name) => !names.includes(name))
      .map(
        (name) =>
          `subscriptions[${index}].workspaces: found "${name}"; allowed: the names of workspaces (${names.join(', ')}).`,
      ),
  );
}

/** Who opens which workspace of the mirror: two workspaces behind one token could not be told apart. */
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
  const strange = entries.filter(([name]) => !names.includes(name)).map(([name]) => name);
  const problems = strange.map(
    (name) => `serve.token.${name}: there is no such workspace; allowed: ${names.join(', ')}.`,
  );
  if (new Set(entries.map(([, token]) => token)).size < entries.length) {
    problems.push('serve.token: found the same token for two workspaces; allowed: a different one for each.');
  }
  return { byWorkspace: new Map(entries), problems };
}
