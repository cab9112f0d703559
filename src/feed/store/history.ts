/** Reads the histories of records: what they were before each change, newest first. The commit writes them. */
import type { UncheckedRecord } from '../../crm/record.js';
import type { ListName } from '../../crm/lists/lists.js';
import { isStored } from '../detect/record-state.js';
import { isoTime } from '../../kit/clock.js';
import { eraseEntries } from '../../log/erase-entries.js';
import { keyOfField, recordField, type WorkspaceRedis } from '../../redis/keys.js';
import { loadScript } from '../../redis/scripts.js';
import { readNumber } from '../../redis/stored.js';
import type { Undo } from '../detect/undo.js';
import { unpackPast, unpackUndo, type StoredPast } from './history-packing.js';
import { unpackAll } from './stored-records.js';

const readPasts = loadScript('read-pasts', import.meta.url);
const scanPasts = loadScript('scan-pasts', import.meta.url);

/** A record and its past changes are read in one script, which makes Redis wait: at most some 2,000 of them, a few milliseconds. */
const RECORDS = 100;
const PASTS_OF_EACH = 200;
const FIRST_CURSOR = '0';

/** A past change, with its id in the history. */
export interface PlacedPast extends StoredPast {
  place: string;
}

/** A record as it is, and its past changes, newest first. */
export interface RecordPast {
  key: string;
  /** Null: it is not in the list. */
  record: UncheckedRecord | null;
  pasts: AsyncGenerator<PlacedPast, void, undefined>;
  /** What undoes them, newest first, without what else they say. */
  undos: AsyncGenerator<Undo[], void, undefined>;
}

/** Some records, and since when their history is known: ms; null: nothing is. */
export interface PastStep {
  since: number | null;
  records: RecordPast[];
}

/** The answer about one record, as the scripts give it. */
type Found = [packed: Buffer | null, pasts: Buffer[], next: Buffer];

export function historyStore(scope: WorkspaceRedis) {
  const { redis, keys, workspace } = scope;
  return {
    /** ISO 8601: since when every change of a list is kept; null: none is. */
    async historySince(list: ListName): Promise<string | null> {
      const since = await redis.hget(keys.sweep(workspace, list), 'historySince');
      const ms = since === null ? null : sinceIn(scope, list, Buffer.from(since));
      return ms === null ? null : isoTime(ms);
    },
    async pastOf(list: ListName, key: string): Promise<{ since: number | null; record: RecordPast }> {
      const of = { list, key, afterMs: -1 };
      const [since, ...found] = await read(scope, of);
      return { since: sinceIn(scope, list, since), record: recordPast(scope, of, found) };
    },
    /**
     * Every record that is stored, or was, in steps, each with the changes that were observed after a time. A record may come twice. Where `since`
     * of a step is later than that time, changes are missing.
     */
    async *everyPast(list: ListName, afterMs: number): AsyncGenerator<PastStep> {
      const ask = (cursor: string, server: string) =>
        scanPasts.runBuffer(redis, keysOf(scope, list), [cursor, RECORDS, server, PASTS_OF_EACH, afterMs]);
      let cursor = FIRST_CURSOR;
      let asked = ask(cursor, '');
      do {
        const [since, next, server, flat] = (await asked) as [Buffer, Buffer, Buffer, (Buffer | Buffer[])[]];
        cursor = next.toString();
        // While one step is worked off, Redis reads the next one. Its error is thrown when its turn has come.
        if (cursor !== FIRST_CURSOR) (asked = ask(cursor, server.toString())).catch(() => undefined);
        const records: RecordPast[] = [];
        for (let index = 0; index + 3 < flat.length; index += 4) {
          const [field, ...found] = flat.slice(index, index + 4) as [Buffer, ...Found];
          records.push(recordPast(scope, { list, key: keyOfField(field), afterMs }, found));
        }
        yield { since: sinceIn(scope, list, since), records };
      } while (cursor !== FIRST_CURSOR);
    },
    /** Erases the history of a record, whose lease has ended. The stream is copied without it. @returns the changes in it */
    async eraseHistory(list: ListName, key: string): Promise<number> {
      const of = { list, key, afterMs: -1 };
      const places: string[] = [];
      for (let from: string | null = ''; from !== null;) {
        const [, , pasts, next] = await read(scope, of, from);
        places.push(...pasts.filter((_, at) => at % 2 === 0).map((place) => place.toString('latin1')));
        from = next.length === 0 ? null : next.toString('latin1');
      }
      const erased = await eraseEntries(scope, keys.history(workspace, list), places);
      await redis.hdel(keys.changed(workspace, list), recordField(key));
      return erased;
    },
  };
}

interface PastQuery {
  list: ListName;
  key: string;
  afterMs: number;
}

function keysOf({ keys, workspace }: WorkspaceRedis, list: ListName): string[] {
  return [keys.records, keys.history, keys.changed, keys.sweep].map((key) => key(workspace, list));
}

async function read(scope: WorkspaceRedis, { list, key, afterMs }: PastQuery, from = ''): Promise<[Buffer, ...Found]> {
  const args = [recordField(key), PASTS_OF_EACH, afterMs, from];
  return (await readPasts.runBuffer(scope.redis, keysOf(scope, list), args)) as [Buffer, ...Found];
}

function sinceIn({ keys, workspace }: WorkspaceRedis, list: ListName, since: Buffer): number | null {
  const at = { what: 'a count', key: keys.sweep(workspace, list), field: 'historySince' } as const;
  return since.length === 0 ? null : readNumber(since.toString(), at);
}

function recordPast(scope: WorkspaceRedis, of: PastQuery, found: Found): RecordPast {
  const { list, key } = of;
  const [packed] = found;
  const [stored] = packed === null ? [] : unpackAll(scope, list, [[key, packed]]).map(([, record]) => record);
  const image = stored !== undefined && isStored(stored) ? stored.image : null;
  const record = image === null ? null : (JSON.parse(image) as UncheckedRecord);
  return { key, record, pasts: pastsFrom(scope, of, found), undos: undosFrom(scope, of, found) };
}

async function* pastsFrom(scope: WorkspaceRedis, of: PastQuery, found: Found) {
  const key = scope.keys.history(scope.workspace, of.list);
  for await (const packed of packedFrom(scope, of, found))
    for (const [place, past] of packed) yield { place, ...unpackPast(past, { key, field: place }) };
}

async function* undosFrom(scope: WorkspaceRedis, of: PastQuery, found: Found) {
  const key = scope.keys.history(scope.workspace, of.list);
  for await (const packed of packedFrom(scope, of, found))
    yield packed.map(([place, past]) => unpackUndo(past, { key, field: place }));
}

type PackedPasts = [place: string, past: Buffer][];

async function* packedFrom(
  scope: WorkspaceRedis,
  of: PastQuery,
  [, first, then]: Found,
): AsyncGenerator<PackedPasts, void, undefined> {
  let [pasts, next] = [first, then];
  for (;;) {
    const packed: PackedPasts = [];
    for (let at = 0; at + 1 < pasts.length; at += 2) {
      const [place, past] = [pasts[at], pasts[at + 1]];
      if (place !== undefined && past !== undefined) packed.push([place.toString('latin1'), past]);
    }
    yield packed;
    if (next.length === 0) return;
    // What is read before is changed no more, and may be trimmed: then the history ends earlier.
    [, , pasts, next] = await read(scope, of, next.toString('latin1'));
  }
}
