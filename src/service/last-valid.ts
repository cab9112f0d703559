/**
 * The configuration that runs, as far as commands need it that neither ask the CRM nor call a handler. It is kept in Redis without secrets and without
 * code, for the time in which its file is refused: a mistake in it must not take the tools away by which one sees and stops what runs.
 */
import { z } from 'zod';
import { listsOf } from '../config/lists.js';
import { namedRedis, type LoadOptions } from '../config/load.js';
import { configSchema, type Config } from '../config/schema.js';
import { compileWhere, type Conditions } from '../delivery/handlers/where.js';
import { withLists } from '../delivery/handlers/selection.js';
import type { Subscription } from '../delivery/handlers/handler.js';
import { ChangefeedError, usage } from '../kit/errors.js';
import { variableIn } from '../kit/schema/env-variable.js';
import type { Log } from '../kit/log.js';
import { isoTime } from '../kit/clock.js';
import { packageVersion } from '../kit/package-files.js';
import { openClient, parseRedisUrl } from '../redis/client.js';
import { Keys } from '../redis/keys.js';
import { openRedis } from '../redis/private/open.js';
import { jsonOrNull } from '../redis/stored.js';
import type { AppContext } from '../../workers/context.js';

const REFUSED: readonly unknown[] = ['CF_CONFIG_INVALID', 'CF_CONFIG_UNLOADABLE'];

/** Another version has other options, and the one that reads checks none of them. */
const keptSchema = z.object({
  version: z.literal(packageVersion()),
  /** ISO 8601: since when it runs. */
  since: z.string(),
  workspaces: z.array(z.looseObject({ name: z.string() })),
  subscriptions: z.array(z.looseObject({ name: z.string(), conditions: z.looseObject({}).optional() })),
  audit: z.looseObject({}),
  log: z.looseObject({}),
  deadLetters: z.looseObject({}),
});

/** @returns what keeps the configuration, once, and again when its rules have changed */
export function keepingValid({ config, ofFile, subscriptions, redis, keys, clock }: AppContext): () => Promise<void> {
  const { workspaces, audit, log, deadLetters } = config;
  const since = isoTime(clock.now());
  let kept: string | null = null;
  return async () => {
    const revision = config.rules?.revision ?? '';
    if (revision === kept) return;
    const withoutTokens = workspaces
      .filter(({ name }) => ofFile.has(name))
      .map(({ token: _, data: _data, ...workspace }) => workspace);
    const withoutLists = subscriptions.map(({ catalogue: _, ...subscription }) => subscription);
    const named = { version: packageVersion(), since, workspaces: withoutTokens, subscriptions: withoutLists };
    await redis.set(keys.configuration(), JSON.stringify({ ...named, audit, log, deadLetters }));
    kept = revision;
  };
}

interface LastValid {
  config: Config;
  since: string;
  /** The one that is refused. */
  file: string;
}

/** @throws `refusal`, unless it is of a configuration and another one is kept */
export async function lastValid(
  refusal: unknown,
  options: LoadOptions & { stateDir: string; log: Log },
): Promise<LastValid> {
  if (!(refusal instanceof ChangefeedError) || !REFUSED.includes(refusal.code)) throw refusal;
  const named = await namedRedis(options);
  const kept = named === null ? null : await readKept(named.redis, options).catch(() => null);
  if (named === null || kept === null) throw refusal;
  return {
    config: { ...configOf(kept, named.redis), key: variableIn(options.env ?? process.env, 'CHANGEFEED_KEY') },
    since: kept.since,
    file: named.file,
  };
}

async function readKept(
  { url, options: own, prefix }: Config['redis'],
  { stateDir, log }: { stateDir: string; log: Log },
): Promise<z.output<typeof keptSchema> | null> {
  const opened = await openRedis({ url, own, stateDir, log });
  const client = openClient(parseRedisUrl(opened.url, own), {});
  client.on('error', () => undefined);
  try {
    return keptSchema.safeParse(jsonOrNull((await client.get(new Keys(prefix).configuration())) ?? '')).data ?? null;
  } finally {
    client.disconnect();
    await opened.close();
  }
}

function configOf(kept: z.output<typeof keptSchema>, redis: Config['redis']): Config {
  const { audit, log, deadLetters } = kept as unknown as Pick<Config, 'audit' | 'log' | 'deadLetters'>;
  const workspaces = kept.workspaces.map((one) => ({
    ...{ data: {}, ...one, token: 'not-kept' },
    // Code is not kept, and no list is read here.
    ...(one['baseUrl'] === undefined && { fetchPage: notHere }),
  })) as unknown as Config['workspaces'];
  const lists = listsOf(workspaces);
  const subscriptions = kept.subscriptions.map(({ conditions, ...one }) => {
    const where = conditions && { where: compileWhere(conditions as Conditions), conditions };
    return withLists({ ...one, ...where, handle: notHere } as unknown as Subscription, lists);
  });
  const http = configSchema.shape.http.parse({ enabled: false });
  const nothing = { destinations: {}, people: {}, rules: null, serve: null, telemetry: false, key: undefined } as const;
  return { workspaces, subscriptions, audit, log, deadLetters, redis, http, ...nothing };
}

function notHere(): never {
  throw usage('The configuration is not valid: no handler can be called before it is corrected.');
}
