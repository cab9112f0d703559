/** Checks token, lists, Redis and receivers of a configuration. Reads only: two pages of each list; of an endpoint, only the connection. */
import { homedir } from 'node:os';
import type { Budget } from '../feed/api/budget.js';
import { openReadApi } from '../feed/api/client.js';
import { createLocalBudget } from '../feed/api/local-budget.js';
import { polledLists } from '../config/lists.js';
import type { LoadedConfig } from '../config/load.js';
import type { Config } from '../config/schema.js';
import { judgeApi } from '../ops/doctor/api.js';
import { error, ok, warning, type Finding, type Text } from '../ops/doctor/finding.js';
import { readList, type ReadList } from '../ops/doctor/read-list.js';
import { judgeRedis } from '../ops/doctor/redis.js';
import { judgeEndpoint, judgeHandler } from '../ops/doctor/receivers.js';
import { partsOf } from '../delivery/handlers/errors.js';
import type { Reached } from '../delivery/handlers/handler.js';
import { messageOf } from '../kit/errors.js';
import { systemClock } from '../kit/clock.js';
import { doubtText } from '../words/doubts.js';
import { wordsFor, type Language } from '../words/words.js';
import { readRedisFacts } from '../redis/facts.js';
import { checkRedis } from '../redis/probe.js';
import type { NeverHolds } from './never-holds.js';
import { openService, type ServiceWorld } from './process.js';
import { stateDirOf } from './state-dir.js';

export type { Finding };

export interface DoctorOptions extends ServiceWorld {
  path?: string | undefined;
  signal: AbortSignal;
  /** The language in which findings are said. */
  language: Language;
}

/** Pages of each list that is polled: the second one shows whether the cursor of the first leads on. */
const PAGES = 2;
/** While the shared budget cannot be asked. */
const PACE = { requests: 4, perSeconds: 1 };

export async function examine({ config, files }: LoadedConfig, options: DoctorOptions): Promise<Finding[]> {
  const { cwd, env, signal, language } = options;
  const { t } = wordsFor(language);
  const baseUrl = files.length === 0 ? config.workspaces[0]?.baseUrl : undefined;
  const stateDir = stateDirOf({ cwd, env, home: homedir(), baseUrl });
  const redis = await redisFindings(config, { stateDir, t });
  const isUsable = redis.every(({ result }) => result !== 'error');
  const feed = isUsable ? await openFeed(options, t) : NO_FEED;
  try {
    const apis: Finding[] = [];
    for (const workspace of config.workspaces) apis.push(...(await apiFindings(workspace, feed, { signal, t })));
    const conditions = await conditionFindings(config, feed, t);
    return [
      ...redis,
      ...feed.findings,
      ...apis,
      ...(await feed.misnamed()),
      ...conditions,
      ...(await receiverFindings(config, t)),
    ];
  } finally {
    await feed.close();
  }
}

interface Feed {
  /** Why what is stored cannot be used. */
  findings: Finding[];
  /** Shared with the processes that poll; null when it cannot be asked. */
  budgetOf: ((workspace: string) => Budget) | null;
  neverHolds: NeverHolds | null;
  /** Options of lists that name fields in vain. */
  misnamed: () => Promise<Finding[]>;
  close: () => Promise<void>;
}

const NO_FEED: Feed = {
  ...{ findings: [], budgetOf: null, neverHolds: null },
  misnamed: () => Promise.resolve([]),
  close: () => Promise.resolve(),
};

async function redisFindings(
  { redis: { url, options: own, allowEviction } }: Config,
  { stateDir, t }: { stateDir: string; t: Text },
): Promise<Finding[]> {
  if (url === undefined) return [ok('Redis', t('doctor.redis.private', { folder: stateDir }))];
  try {
    await checkRedis(url, { own });
    const servers = await readRedisFacts(url, systemClock, own);
    const judged = servers.flatMap((server) =>
      judgeRedis({ ...server, allowEviction }, t).map((one) =>
        servers.length === 1 ? one : { ...one, check: one.check.replace('Redis', `Redis ${server.place}`) },
      ),
    );
    return [ok('Redis', t('doctor.redis.answers')), ...judged];
  } catch (reason) {
    return [error('Redis', messageOf(reason), t('doctor.redis.todo'))];
  }
}

async function apiFindings(
  { name, baseUrl, token, fetchPage, lists }: Config['workspaces'][number],
  { budgetOf }: Feed,
  { signal, t }: { signal: AbortSignal; t: Text },
): Promise<Finding[]> {
  const polled = polledLists(lists).all;
  const api = openReadApi({
    ...{ workspace: name, baseUrl, token, fetchPage, budget: budgetOf?.(name) ?? createLocalBudget(PACE) },
    ...{ lists: polled, attempts: 1 },
  });
  const found: ReadList[] = [];
  try {
    for (const list of polled) found.push(await readList(api, { list, pages: PAGES, signal }));
    return judgeApi(name, found, t, fetchPage !== undefined);
  } finally {
    await api.close();
  }
}

/** By the records that are stored; a rule says it on the page, too. */
async function conditionFindings({ subscriptions }: Config, { neverHolds }: Feed, t: Text): Promise<Finding[]> {
  const judged = subscriptions.map(async (one) => {
    const doubts = (await neverHolds?.of(one)) ?? [];
    const check = t('doctor.conditions', { name: one.name });
    return doubts.map((doubt) => warning(check, doubtText(doubt, t), t('doctor.conditions.todo')));
  });
  return (await Promise.all(judged)).flat();
}

async function receiverFindings({ subscriptions }: Config, t: Text): Promise<Finding[]> {
  try {
    // Of a kind by others it may throw anything, such as an error with a secret in it.
    const failed = (thrown: unknown, place: string): Reached => ({ place, problem: `${partsOf(thrown).known}.` });
    const judged = subscriptions.flatMap(({ name, handler, reach }) =>
      reach === undefined
        ? []
        : [
            reach()
              .catch((thrown: unknown) => failed(thrown, handler))
              .then((found) => judgeEndpoint(name, found, t)),
          ],
    );
    return [...(await Promise.all(judged)), ...subscriptions.flatMap((one) => judgeHandler(one, t))];
  } finally {
    await Promise.all(subscriptions.map(async ({ close }) => await close?.()));
  }
}

/** A service that polls shares its budget with this process. */
async function openFeed({ path, signal: _, language: __, ...world }: DoctorOptions, t: Text): Promise<Feed> {
  try {
    const { feed, budgetOf, neverHolds } = await openService(world, { path, quiet: true });
    const misnamed = async (): Promise<Finding[]> => {
      const { workspaces } = await feed.status();
      return workspaces.flatMap(({ name, lists }) =>
        lists.flatMap(({ list, unmatched }) =>
          unmatched.map(({ option, pattern }) =>
            warning(
              `${name}, ${list}: ${option}`,
              t('doctor.misnamed', { pattern }),
              t('doctor.misnamed.todo', { list }),
            ),
          ),
        ),
      );
    };
    return { findings: [], budgetOf, neverHolds, misnamed, close: () => feed.stop() };
  } catch (reason) {
    const refused = error(t('doctor.redis.state'), messageOf(reason), t('doctor.redis.stateTodo'));
    return { ...NO_FEED, findings: [refused] };
  }
}
