/** The part of the service that the page and an assistant read. */
import { worldOf, type World } from '../actions/carry-out.js';
import type { Changefeed } from '../actions/feed.js';
import { polledLists } from '../config/lists.js';
import { handledLastMinute } from '../delivery/ask/statistics.js';
import { packageVersion } from '../kit/package-files.js';
import type { Audit } from '../ops/audit.js';
import { createParts } from '../ops/server/page/parts.js';
import type { FeedOfPage, PageSource } from '../ops/server/page/source.js';
import type { AppContext } from '../../workers/context.js';
import type { Workspaces } from '../../workers/workspaces.js';
import { pageRules } from './rules.js';
import type { RunningRules } from './running-rules.js';

export function pageSource(
  { subscriptions, redis, keys, events, watch, clock }: AppContext,
  workspaces: Workspaces,
  feed: FeedOfPage,
): PageSource {
  return {
    feed,
    log: events,
    links: (name) => workspaces.surroundingsOf(name).links,
    consumers: () => subscriptions.flatMap(({ name, pull }) => (pull === undefined ? [] : [name])),
    redisIsAway: () => watch.trouble() === 'away',
    workspaces: () =>
      workspaces.all().map(({ name, config: { timeZone, lists } }) => {
        const polled = new Set(polledLists(lists).all.map((list) => list.name));
        const described = Object.values(lists).map(({ descriptor }) => descriptor);
        return {
          name,
          timeZone,
          lists: described.map(({ name, object, modifiedAt, createdAt, systemKept, recognisedOnly }) => {
            const fields = { modifiedAt: [...modifiedAt], createdAt: [...createdAt], kept: [...systemKept] };
            return { name, object, enabled: polled.has(name), ...fields, recognisedOnly };
          }),
        };
      }),
    handledLastMinute: (subscriptions) => handledLastMinute(redis, keys, { subscriptions, nowMs: clock.now() }),
  };
}

interface WorldDeps extends Omit<Parameters<typeof pageRules>[2], 'running'> {
  workspaces: Workspaces;
  feed: Changefeed;
  audit: Audit;
  rules: RunningRules;
}

/** The world of an assistant in a process without a page. */
export function worldWithout(context: AppContext, deps: WorldDeps): World {
  const { workspaces, feed, audit } = deps;
  const page = createParts(pageSource(context, workspaces, feed), packageVersion(), context.clock);
  const rules = pageRules(context, workspaces, { ...deps, running: deps.rules });
  return worldOf({ ...page, queues: 'not installed' }, { feed, audit, rules });
}
