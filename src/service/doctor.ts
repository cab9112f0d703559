/** Checks what a configuration depends on. Reads only: two pages of each list; of an endpoint, only the connection. */
import { existsSync } from 'node:fs';
import { statfs } from 'node:fs/promises';
import { homedir } from 'node:os';
import { dirname } from 'node:path';
import type { Budget } from '../feed/api/budget.js';
import { createReadApi } from '../feed/api/client.js';
import { createLocalBudget } from '../feed/api/local-budget.js';
import { polledLists } from '../config/lists.js';
import type { LoadedConfig } from '../config/load.js';
import type { Config } from '../config/schema.js';
import type { ListDescriptor } from '../crm/lists/descriptor.js';
import { readyMadeLists } from '../crm/lists/lists.js';
import { judgeApi, judgeOffers } from '../ops/doctor/api.js';
import { error, ok, skipped, type Finding, type Text } from '../ops/doctor/finding.js';
import { readList, type ReadList } from '../ops/doctor/read-list.js';
import { judgeRedis } from '../ops/doctor/redis.js';
import { judgeClear, judgeDisk, judgeEndpoint, judgeFeed, judgeHandler } from '../ops/doctor/surroundings.js';
import { messageOf } from '../kit/errors.js';
import { systemClock } from '../kit/clock.js';
import type { Formats } from '../words/format.js';
import { wordsFor } from '../words/words.js';
import { readRedisFacts } from '../redis/facts.js';
import { checkRedis } from '../redis/probe.js';
import { clearWarnings } from './config-warnings.js';
import { openService, type ServiceWorld } from './process.js';
import { stateDirOf } from './state-dir.js';

export type { Finding };

export interface DoctorOptions extends ServiceWorld {
  path?: string | undefined;
  signal: AbortSignal;
  /** The language and the time zone in which findings are said. */
  formats: Formats;
}

/** Pages of each list that is polled: the second one shows whether the cursor of the first leads on. */
const PAGES = 2;
/** While the shared budget cannot be asked. */
const PACE = { requests: 4, perSeconds: 1 };

export async function examine({ config, files }: LoadedConfig, options: DoctorOptions): Promise<Finding[]> {
  const { cwd, env, signal, formats } = options;
  const { t } = wordsFor(formats.language);
  const baseUrl = files.length === 0 ? config.workspaces[0]?.baseUrl : undefined;
  const stateDir = stateDirOf({ cwd, env, home: homedir(), baseUrl });
  const redis = await redisFindings(config, { stateDir, t });
  const isUsable = redis.every(({ result }) => result !== 'error');
  const feed = isUsable ? await openFeed(options) : noFeed(t);
  try {
    const apis: Finding[] = [];
    for (const workspace of config.workspaces) apis.push(...(await apiFindings(workspace, feed, { signal, t })));
    const clear = clearWarnings(config, t).map((one) => judgeClear(one, t));
    return [...redis, ...clear, ...apis, ...(await endpointFindings(config, t)), ...feed.findings];
  } finally {
    await feed.close();
  }
}

interface Feed {
  findings: Finding[];
  /** Shared with the processes that poll; null when it cannot be asked. */
  budgetOf: ((workspace: string) => Budget) | null;
  close: () => Promise<void>;
}

const noFeed = (t: Text): Feed => ({
  findings: [skipped(t('doctor.feed'), t('doctor.feed.skipped'))],
  budgetOf: null,
  close: () => Promise.resolve(),
});

async function redisFindings(
  { redis: { url, options: own, allowEviction } }: Config,
  { stateDir, t }: { stateDir: string; t: Text },
): Promise<Finding[]> {
  if (url === undefined) {
    const kept = ok('Redis', t('doctor.redis.private', { folder: stateDir }));
    return [kept, await diskFinding(stateDir, t)];
  }
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

async function diskFinding(folder: string, t: Text): Promise<Finding> {
  let existing = folder;
  while (!existsSync(existing) && dirname(existing) !== existing) existing = dirname(existing);
  const { bavail, bsize } = await statfs(existing);
  return judgeDisk(folder, bavail * bsize, t);
}

async function apiFindings(
  { name, baseUrl, token, budget, lists }: Config['workspaces'][number],
  { budgetOf }: Feed,
  { signal, t }: { signal: AbortSignal; t: Text },
): Promise<Finding[]> {
  const polled = polledLists(lists).all;
  const offered = readyMadeLists.all.filter(({ path }) => !polled.some((list) => list.path === path));
  const api = createReadApi({
    ...{ workspace: name, baseUrl, token, budget: budgetOf?.(name) ?? createLocalBudget(PACE) },
    ...{ lists: [...polled, ...offered], attempts: 1 },
  });
  const read = async (all: readonly ListDescriptor[], pages: number): Promise<ReadList[]> => {
    const done: ReadList[] = [];
    for (const list of all) done.push(await readList(api, { list, pages, signal }));
    return done;
  };
  try {
    const found = await read(polled, PAGES);
    const isRead = found.some(({ pages }) => pages.length > 0);
    const offers = isRead ? judgeOffers(name, await read(offered, 1), t) : [];
    return [...judgeApi(name, found, budget, t), ...offers];
  } finally {
    await api.close();
  }
}

async function endpointFindings({ subscriptions }: Config, t: Text): Promise<Finding[]> {
  try {
    const judged = subscriptions.flatMap(({ name, reach }) =>
      reach === undefined ? [] : [reach().then((reached) => judgeEndpoint(name, reached, t))],
    );
    return [...(await Promise.all(judged)), ...subscriptions.flatMap((one) => judgeHandler(one, t))];
  } finally {
    await Promise.all(subscriptions.map(async ({ close }) => await close?.()));
  }
}

async function openFeed({ path, signal: _, formats, ...world }: DoctorOptions): Promise<Feed> {
  try {
    const { feed, budgetOf } = await openService(world, { path, quiet: true });
    const close = () => feed.stop();
    try {
      const { problems, subscriptions, processes } = await feed.status();
      const dead = subscriptions.map(({ name, dead: count }) => ({ subscription: name, count }));
      return { findings: judgeFeed({ processes: processes.length, problems, dead }, formats), budgetOf, close };
    } catch (reason) {
      await close();
      throw reason;
    }
  } catch (reason) {
    const { t } = wordsFor(formats.language);
    return { ...noFeed(t), findings: [error(t('doctor.feed'), messageOf(reason), t('doctor.feed.todo'))] };
  }
}
