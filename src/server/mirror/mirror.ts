/**
 * The mirror serves the lists from the stored records, so that other tools read the CRM without using its rate limit.
 * Records have the same keys as upstream. They are ordered by id, and a cursor is the last id of the page before.
 * Extensions of the interface: `?updated_since=`, `?ids=`, `GET /v2/<list>/<id>`, and headers that report freshness.
 */
import { builtInLists, type ListName, type Lists } from '../../crm/lists/lists.js';
import type { Clock } from '../../runtime/clock.js';
import { pageBody } from '../read-api/envelope.js';
import { servedList } from '../read-api/lists.js';
import type { PageQuery, Source, SourceAnswer, SourceFailure } from '../read-api/source.js';
import { KeyOrder, positionAfter } from './order.js';
import type { MirroredList, MirrorStore } from './store.js';

const PAGE = 50;
/** With a filter, a page ends after this many records were read, even if it is not full: no request reads a whole list. */
const LOOKED_AT = 1_000;
const MOST_IDS = 200;

export interface MirrorDeps {
  store: MirrorStore;
  /** Which lists are polled, and whether their contents are stored. */
  lists: Readonly<Record<string, { enabled: boolean; images: boolean }>>;
  /** What the lists are. @defaultValue the built-in lists */
  catalogue?: Lists;
  clock: Clock;
  /** The record's own time of last change; null when it has none. */
  stampOf: (record: Readonly<Record<string, unknown>>, list: ListName) => string | null;
}

export function createMirror(deps: MirrorDeps): Source {
  const order = new KeyOrder(deps.store);
  return {
    async page(query) {
      const { list } = query;
      if (!isMirrored(deps, list)) return neverServed(deps, list);
      const seen = await deps.store.look(list);
      if (seen.baselineAt === null) return incomplete(list, seen);
      const filter = readFilter(query.parameters);
      if ('outcome' in filter) return filter;
      const headers = freshness(seen, deps.clock.now());
      if (filter.ids !== null) return await pageOfIds(deps, list, { ids: filter.ids, headers });
      const keys = await order.of(list, seen.version);
      return await pageAfter(deps, list, { cursor: query.cursor, keys, since: filter.since, headers });
    },
    async record(query) {
      const { list, id } = query;
      if (!isMirrored(deps, list)) return neverServed(deps, list);
      const seen = await deps.store.look(list);
      if (seen.baselineAt === null) return incomplete(list, seen);
      return await oneRecord(deps, list, { id, headers: freshness(seen, deps.clock.now()) });
    },
  };
}

type MirrorLists = Pick<MirrorDeps, 'lists'>;

function isMirrored({ lists }: MirrorLists, list: ListName): boolean {
  const options = Object.hasOwn(lists, list) ? lists[list] : undefined;
  return options?.enabled === true && options.images;
}

function keyOf({ catalogue = builtInLists }: Pick<MirrorDeps, 'catalogue'>, list: ListName): string {
  const descriptor = catalogue.byName(list);
  return descriptor === undefined ? `${list}List` : servedList(descriptor).key;
}

/** 404 and not 503 or 501: clients repeat a request after a 5xx, but this list never becomes available by waiting. */
function neverServed({ lists }: MirrorLists, list: string): SourceFailure {
  const settings = Object.hasOwn(lists, list) ? lists[list] : null;
  const why =
    settings?.enabled === true
      ? `keeps the list "${list}" without its contents (lists.${list}.images is false)`
      : `does not poll the list "${list}" (lists.${list}.enabled is false)`;
  return failure(404, 'Not Found', `This mirror ${why}. Asking again does not help; change its configuration.`);
}

/**
 * An incomplete list must not be served: clients would take the missing records for a mass deletion. `retry-after` is sent
 * only while a sweep is running that completes the list.
 */
function incomplete(list: ListName, { sweeping }: MirroredList): SourceFailure {
  const reason = `The mirror has not seen the list "${list}" whole yet.`;
  if (sweeping) {
    const soon = `${reason} Its first sweep is under way.`;
    return failure(503, 'Service Unavailable', soon, { 'retry-after': '10' });
  }
  const remedy = 'Start one with the role poll ("changefeed start"), or look at "changefeed status" for what fails.';
  return failure(503, 'Service Unavailable', `${reason} No process is sweeping it at this moment. ${remedy}`);
}

function failure(status: number, message: string, reason: string, headers: Record<string, string> = {}): SourceFailure {
  return { outcome: 'failure', status, message, reason, headers };
}

function freshness({ baselineAt, completedAt }: MirroredList, now: number): Record<string, string> {
  if (baselineAt === null || completedAt === null) return {};
  const age = Math.max(0, Math.round((now - Date.parse(completedAt)) / 1_000));
  return { 'changefeed-complete-at': completedAt, 'changefeed-baseline-at': baselineAt, age: String(age) };
}

interface Filter {
  ids: string[] | null;
  /** ms since the epoch */
  since: number | null;
}

function readFilter({ ids, updated_since: since }: PageQuery['parameters']): Filter | SourceFailure {
  const wanted = ids === undefined ? null : ids.split(',').filter((id) => id !== '');
  if (wanted !== null && wanted.length > MOST_IDS) {
    return failure(400, 'Bad Request', `ids: at most ${MOST_IDS} at once, found ${wanted.length}.`);
  }
  const sinceMs = since === undefined ? null : Date.parse(since);
  if (Number.isNaN(sinceMs)) {
    return failure(400, 'Bad Request', 'updated_since: expected a time such as 2026-03-01T00:00:00.000Z.');
  }
  return { ids: wanted, since: sinceMs };
}

async function pageOfIds(
  deps: MirrorDeps,
  list: ListName,
  { ids, headers }: { ids: readonly string[]; headers: Record<string, string> },
): Promise<SourceAnswer> {
  const images = await deps.store.images(list, ids);
  return { outcome: 'page', body: pageBody(keyOf(deps, list), images.filter(isThere), null), headers };
}

interface Walk {
  cursor: string | null;
  keys: readonly string[];
  since: number | null;
  headers: Record<string, string>;
}

async function pageAfter(deps: MirrorDeps, list: ListName, walk: Walk): Promise<SourceAnswer> {
  const { keys, cursor, since, headers } = walk;
  const start = cursor === null ? 0 : positionAfter(keys, cursor);
  const found: string[] = [];
  let at = start;
  while (at < keys.length && found.length < PAGE && at - start < LOOKED_AT) {
    const chunk = keys.slice(at, at + PAGE);
    const images = await deps.store.images(list, chunk);
    for (const image of images) {
      at += 1;
      if (isThere(image) && isSince(deps, list, { image, since })) found.push(image);
      if (found.length === PAGE) break;
    }
  }
  const last = keys[at - 1];
  const nextCursor = at < keys.length && last !== undefined ? last : null;
  return { outcome: 'page', body: pageBody(keyOf(deps, list), found, nextCursor), headers };
}

function isSince(
  { stampOf }: MirrorDeps,
  list: ListName,
  { image, since }: { image: string; since: number | null },
): boolean {
  if (since === null) return true;
  const stamp = stampOf(JSON.parse(image) as Record<string, unknown>, list);
  return stamp !== null && Date.parse(stamp) >= since;
}

async function oneRecord(
  { store }: MirrorDeps,
  list: ListName,
  { id, headers }: { id: string; headers: Record<string, string> },
): Promise<SourceAnswer> {
  const [image = null] = await store.images(list, [id]);
  if (image === null) return failure(404, 'Not Found', `There is no such record in the list "${list}".`, headers);
  const body = Buffer.from(`{"success":true,"data":${image}}`);
  return { outcome: 'page', body, headers };
}

function isThere(image: string | null): image is string {
  return image !== null;
}
