/** The mirror serves the lists from the stored records, so that other tools do not use the CRM's rate limit. */
import { readTime } from '../../../kit/iso-time.js';
import { agoMs } from '../../../kit/stored-time.js';
import type { ListDescriptor } from '../../../crm/lists/descriptor.js';
import type { ListName } from '../../../crm/lists/lists.js';
import type { Clock } from '../../../kit/clock.js';
import { pageBody } from '../read-api/envelope.js';
import { servedList } from '../read-api/lists.js';
import type { PageQuery, Source, SourceFailure } from '../read-api/source.js';
import type { MirroredList, MirrorStore } from './mirror-store.js';

const PAGE = 50;
/** With a filter, a page ends after this many records read, even if not full: no request reads a whole list. */
const MOST_READ = 1_000;
const MOST_IDS = 200;

interface MirrorList {
  readonly descriptor: ListDescriptor;
  readonly enabled: boolean;
}

export interface MirrorDeps {
  store: MirrorStore;
  lists: Readonly<Record<string, MirrorList>>;
  clock: Clock;
  /** The record's own time of last change; null when it has none. */
  modifiedAtOf: (record: Readonly<Record<string, unknown>>, list: ListDescriptor) => string | null;
}

export function createMirror(deps: MirrorDeps): Source {
  const { store, clock } = deps;
  const sortedKeys = keyCache(store);
  const open = async (name: string) => {
    const list = findList(deps, name);
    if ('outcome' in list) return list;
    const status = await store.status(name);
    if (status.baselineAt === null) return incomplete(name, status);
    return { list, key: servedList(list).key, version: status.version, headers: freshness(status, clock.now()) };
  };
  return {
    async page({ list: name, parameters, cursor }) {
      const opened = await open(name);
      if ('outcome' in opened) return opened;
      const filter = readFilter(parameters);
      if ('outcome' in filter) return filter;
      const { list, key, version, headers } = opened;
      const { ids, since } = filter;
      const { found, nextCursor } =
        ids === null
          ? await recordsAfter(deps, list, { cursor, keys: await sortedKeys(name, version), since })
          : { found: (await store.images(name, ids)).filter(isThere), nextCursor: null };
      return { outcome: 'page', body: pageBody(key, found, nextCursor), headers };
    },
    async record({ list: name, id }) {
      const opened = await open(name);
      if ('outcome' in opened) return opened;
      const { headers } = opened;
      const [image = null] = await store.images(name, [id]);
      if (image === null) return failure(404, 'Not Found', `There is no such record in the list "${name}".`, headers);
      return { outcome: 'page', body: Buffer.from(`{"success":true,"data":${image}}`), headers };
    },
  };
}

/** A list that is never served is a 404: clients repeat a request after a 5xx, and waiting does not help. */
function findList({ lists }: MirrorDeps, name: string): ListDescriptor | SourceFailure {
  const list = Object.hasOwn(lists, name) ? lists[name] : undefined;
  if (list?.enabled === true && !list.descriptor.recognisedOnly) return list.descriptor;
  const why =
    list === undefined
      ? `has no list "${name}" for the workspace of this token`
      : list.enabled
        ? `keeps only the keys of the list "${name}", not its rows`
        : `does not poll the list "${name}" (lists.${name}.enabled is false)`;
  return failure(404, 'Not Found', `This mirror ${why}. Asking again does not help; change its configuration.`);
}

/** Clients would take missing records for a mass deletion. `retry-after`: only while a sweep completes the list. */
function incomplete(list: string, { sweeping }: MirroredList): SourceFailure {
  const reason = `The mirror has not seen the list "${list}" whole yet.`;
  if (sweeping) {
    const soon = `${reason} Its first sweep is under way.`;
    return failure(503, 'Service Unavailable', soon, { 'retry-after': '10' });
  }
  const remedy = 'Start one with the role poll ("changefeed start"), or check "changefeed status".';
  return failure(503, 'Service Unavailable', `${reason} No process is sweeping it at this moment. ${remedy}`);
}

function failure(status: number, message: string, reason: string, headers: Record<string, string> = {}): SourceFailure {
  return { outcome: 'failure', status, message, reason, headers };
}

function freshness({ baselineAt, completedAt }: MirroredList, now: number): Record<string, string> {
  if (baselineAt === null || completedAt === null) return {};
  const ms = agoMs(completedAt, now);
  const age = ms === null ? {} : { age: String(Math.round(ms / 1_000)) };
  return { 'changefeed-complete-at': completedAt, 'changefeed-baseline-at': baselineAt, ...age };
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
  const sinceMs = since === undefined ? null : readTime(since, 'UTC');
  if (since !== undefined && sinceMs === null) {
    return failure(400, 'Bad Request', 'updated_since: expected a time such as 2026-03-01T00:00:00.000Z.');
  }
  return { ids: wanted, since: sinceMs };
}

interface Walk {
  cursor: string | null;
  keys: readonly string[];
  since: number | null;
}

async function recordsAfter(deps: MirrorDeps, list: ListDescriptor, { keys, cursor, since }: Walk) {
  const start = cursor === null ? 0 : positionAfter(keys, cursor);
  const found: string[] = [];
  let at = start;
  while (at < keys.length && found.length < PAGE && at - start < MOST_READ) {
    const images = await deps.store.images(list.name, keys.slice(at, at + PAGE));
    for (const image of images) {
      at += 1;
      if (isThere(image) && isSince(deps, list, { image, since })) found.push(image);
      if (found.length === PAGE) break;
    }
  }
  return { found, nextCursor: at < keys.length ? (keys[at - 1] ?? null) : null };
}

function isSince(
  { modifiedAtOf }: MirrorDeps,
  list: ListDescriptor,
  { image, since }: { image: string; since: number | null },
): boolean {
  if (since === null) return true;
  const modifiedAt = modifiedAtOf(JSON.parse(image) as Record<string, unknown>, list);
  return modifiedAt !== null && Date.parse(modifiedAt) >= since;
}

function isThere(image: string | null): image is string {
  return image !== null;
}

/** The keys of a list, sorted, so that a cursor (a page's last key) stays valid. Kept for one version of the list. */
function keyCache(store: MirrorStore): (list: ListName, version: string) => Promise<readonly string[]> {
  const kept = new Map<ListName, { version: string; keys: Promise<readonly string[]> }>();
  return (list, version) => {
    const known = kept.get(list);
    if (known?.version === version) return known.keys;
    const keys = store.keys(list).then((all) => all.sort());
    kept.set(list, { version, keys });
    // A failed read must not stay in the cache.
    keys.catch(() => kept.delete(list));
    return keys;
  };
}

/** The position after `key`, whether or not the key is still in the list. */
function positionAfter(keys: readonly string[], key: string): number {
  let [low, high] = [0, keys.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((keys[middle] ?? '') <= key) low = middle + 1;
    else high = middle;
  }
  return low;
}
