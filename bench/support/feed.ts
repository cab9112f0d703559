/** A whole Changefeed that only polls, as `changefeed start --only poll` runs it. */
import type { Changefeed } from '../../src/actions/feed.js';
import { openChangefeed } from '../../src/service/changefeed.js';
import { parseConfig } from '../../src/config/parse.js';
import { LIST_NAMES, type BuiltInList } from '../../src/crm/lists/lists.js';

export interface FeedOptions {
  redisUrl: string;
  workspaces: readonly { name: string; baseUrl: string; token: string }[];
  budget: { requests: number; perSeconds: number };
  /** Further options of each workspace. @defaultValue none */
  options?: Readonly<Record<string, unknown>>;
  /** @defaultValue all six */
  lists?: readonly BuiltInList[];
}

export async function openFeed({
  redisUrl,
  workspaces,
  budget,
  options = {},
  lists = LIST_NAMES,
}: FeedOptions): Promise<Changefeed> {
  const enabled = Object.fromEntries(LIST_NAMES.map((list) => [list, { enabled: lists.includes(list) }]));
  const raw = { workspaces: workspaces.map((one) => ({ ...one, budget, lists: enabled, ...options })) };
  const config = parseConfig(raw, { source: 'bench', redisUrl });
  return await openChangefeed({ config, reportsProblems: false });
}
