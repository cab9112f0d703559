/**
 * Checks what a configuration depends on, one after another: Redis, the API of each workspace, endpoints, disk, and the problems of the feed.
 * One that is away does not stop the others. Reads only: of the API one page of each list, of an endpoint only the connection.
 */
import { existsSync } from 'node:fs';
import { statfs } from 'node:fs/promises';
import { homedir } from 'node:os';
import { dirname } from 'node:path';
import { createReadApi } from '../api/client.js';
import { polledLists } from '../config/lists.js';
import { loadConfig } from '../config/load.js';
import type { Config } from '../config/schema.js';
import type { ListName } from '../crm/lists/lists.js';
import { judgeAddress, judgeApi, judgeOffers } from '../doctor/api.js';
import { error, ok, skipped, type Finding } from '../doctor/finding.js';
import { judgeRedis } from '../doctor/redis.js';
import { judgeDisk, judgeEndpoint, judgeFeed, judgeHandler } from '../doctor/surroundings.js';
import { messageOf } from '../errors.js';
import { offersBeside, probeOffers } from '../probe/offers.js';
import { probeLists } from '../probe/probe.js';
import { askOnce } from '../probe/sample.js';
import { systemClock } from '../runtime/clock.js';
import { readRedisFacts } from '../redis/facts.js';
import { checkRedis } from '../redis/probe.js';
import { openService, type ServiceWorld } from './process.js';
import { stateDirOf } from './state-dir.js';

export type { Finding };

export interface DoctorOptions extends ServiceWorld {
  path?: string | undefined;
  signal: AbortSignal;
}

/** Between two requests to an API. The shared budget is in Redis, which may be away, and these few requests are not taken from it. */
const PAUSE_MS = 250;

/** @throws ChangefeedError CF_CONFIG_INVALID */
export async function examine(options: DoctorOptions): Promise<Finding[]> {
  const { cwd, env, path, signal } = options;
  const { config, files } = await loadConfig({ cwd, env, path });
  const baseUrl = files.length === 0 ? config.workspaces[0]?.baseUrl : undefined;
  const stateDir = stateDirOf({ cwd, env, home: homedir(), baseUrl });
  const redis = await redisFindings(config, stateDir);
  const isUsable = redis.every(({ result }) => result !== 'error');
  const feed = isUsable ? await readFeed(options) : NO_FEED;
  const apis: Finding[] = [];
  for (const workspace of config.workspaces) apis.push(...(await apiFindings(workspace, feed, signal)));
  const endpoints = await endpointFindings(config);
  return [...redis, ...apis, ...endpoints, ...feed.findings];
}

interface Feed {
  findings: Finding[];
  walkMsOf: (workspace: string, list: ListName) => number | null;
}

const NO_FEED: Feed = { findings: [skipped('feed', 'its problems are stored in Redis')], walkMsOf: () => null };

async function redisFindings({ redis: { url, allowEviction } }: Config, stateDir: string): Promise<Finding[]> {
  if (url === undefined) {
    const kept = ok('Redis', `a private one, which keeps its data in ${stateDir} with an append-only file`);
    return [kept, await diskFinding(stateDir)];
  }
  try {
    await checkRedis(url);
    const servers = await readRedisFacts(url, systemClock);
    const judged = servers.flatMap(({ place, ...facts }) =>
      judgeRedis({ ...facts, allowEviction }).map((one) =>
        servers.length === 1 ? one : { ...one, check: one.check.replace('Redis', `Redis ${place}`) },
      ),
    );
    return [ok('Redis', 'answers'), ...judged];
  } catch (reason) {
    return [error('Redis', messageOf(reason), 'Start it, or correct redis.url or REDIS_URL.')];
  }
}

async function diskFinding(folder: string): Promise<Finding> {
  let existing = folder;
  while (!existsSync(existing) && dirname(existing) !== existing) existing = dirname(existing);
  const { bavail, bsize } = await statfs(existing);
  return judgeDisk(folder, bavail * bsize);
}

async function apiFindings(
  { name, baseUrl, token, budget, lists }: Config['workspaces'][number],
  { walkMsOf }: Feed,
  signal: AbortSignal,
): Promise<Finding[]> {
  const paced = { take: () => systemClock.sleep(PAUSE_MS, signal), pause: () => Promise.resolve() };
  const asked = polledLists(lists).all;
  const offered = offersBeside(asked);
  const served = [...asked, ...offered];
  const api = createReadApi({ workspace: name, baseUrl, token, budget: paced, lists: served, attempts: 1 });
  const ask = askOnce(api, signal);
  try {
    const report = await probeLists({ ask, lists: asked, requests: asked.length });
    const offers = report.lists.length === 0 ? [] : await probeOffers(ask, offered, (list) => walkMsOf(name, list));
    return [...judgeAddress(name, baseUrl), ...judgeApi(name, report, budget), ...judgeOffers(name, offers)];
  } finally {
    await api.close();
  }
}

async function endpointFindings({ subscriptions }: Config): Promise<Finding[]> {
  try {
    const judged = subscriptions.flatMap(({ name, reach }) =>
      reach === undefined ? [] : [reach().then((reached) => judgeEndpoint(name, reached))],
    );
    return [...(await Promise.all(judged)), ...subscriptions.flatMap(judgeHandler)];
  } finally {
    await Promise.all(subscriptions.map(async ({ close }) => await close?.()));
  }
}

async function readFeed({ path, signal: _, ...world }: DoctorOptions): Promise<Feed> {
  try {
    const { feed } = await openService(world, { path, quiet: true });
    try {
      const { problems, subscriptions, processes, workspaces } = await feed.status();
      const dead = subscriptions.map(({ name, dead: count }) => ({ subscription: name, count }));
      const lists = workspaces.flatMap((one) => one.lists.map((list) => ({ workspace: one.name, ...list })));
      return {
        findings: judgeFeed({ processes: processes.length, problems, dead }),
        walkMsOf: (workspace, name) =>
          lists.find((one) => one.workspace === workspace && one.list === name)?.freshness?.sweepMs ?? null,
      };
    } finally {
      await feed.stop();
    }
  } catch (reason) {
    return { ...NO_FEED, findings: [error('feed', messageOf(reason), 'See "changefeed status".')] };
  }
}
