/** The receipts of each subscription and workspace: a stream of entries of some 5 kB, and the open ones, which are not in an entry yet. */
import type { Redis } from '../../redis/client.js';
import { isInFuture } from '../../kit/stored-time.js';
import type { Keys } from '../../redis/keys.js';
import type { NotedReceipts } from '../groups/gate.js';
import {
  endOf,
  HEAD_BYTES,
  idBytes,
  isOfDigest,
  outcomeOf,
  packReceipt,
  receiptsIn,
  recordBytes,
  unpackReceipt,
  type Receipt,
  type ReceiptOutcome,
} from './receipt.js';
import { loadScript } from '../../redis/scripts.js';
import { unreadable } from '../../redis/stored.js';

const keepScript = loadScript('keep-receipts', import.meta.url);
const replaceScript = loadScript('replace-receipts', import.meta.url);

/** Entries of one read: few at first, because most searches want the newest, then 2 MB. */
const FIRST_READ = 16;
const MOST_READ = 400;
/** The open ones become an entry after this time, so that what is too old can be dropped by entries. */
const OPEN_MS = 3_600_000;

interface Retention {
  ageMs: number;
  /** How many are kept, to an entry. */
  number: number;
}

/** What is given must hold. */
export interface ReceiptFilter {
  /** Receipts of digests are found too: the event may be in the range of one. */
  eventIds?: readonly string[] | undefined;
  recordId?: string | undefined;
  outcomes?: readonly ReceiptOutcome[] | undefined;
}

export interface ReceiptSearch extends ReceiptFilter {
  /** Older ones are left out; ms. */
  sinceMs: number;
}

export interface ReceiptPlace {
  subscription: string;
  workspace: string;
}

export type ReceiptStore = ReturnType<typeof createReceiptStore>;

export function createReceiptStore(redis: Redis, keys: Keys) {
  return {
    /** Newest first, by when their attempts ended to within the attempts of a few seconds. */
    async *search(place: ReceiptPlace, search: ReceiptSearch): AsyncGenerator<Receipt> {
      const read = compileSearch(search, place.workspace);
      for await (const chunk of chunksOf({ redis, keys }, place)) {
        const { found, newestMs } = readChunk(chunk, read, keysOf(keys, place).stream);
        yield* found.reverse();
        // An entry is made when its last receipt is: all before it are older.
        if (newestMs < search.sinceMs) return;
      }
    },
    /** Keeps receipts of deliveries that are not in the queue. */
    keep: (place: ReceiptPlace, { receipts, most }: NotedReceipts) =>
      runKeep({ redis, keys }, place, [Buffer.concat(receipts.map(packReceipt)), most, '']),
    /** Drops the receipts of a record. @param isOf of those with its id @returns how many */
    erase: (place: ReceiptPlace, recordId: string, isOf: (receipt: Receipt) => boolean) =>
      eraseIn({ redis, keys }, place, { recordId, isOf }),
    /** Drops what is too old; everything where no receipts are kept. */
    async trim(place: ReceiptPlace, retention: Retention | null, nowMs: number): Promise<void> {
      const { stream, open } = keysOf(keys, place);
      if (retention === null) {
        await redis.unlink(stream, open);
        return;
      }
      const first = await redis.getrangeBuffer(open, 0, HEAD_BYTES - 1);
      const openedMs = first.length < HEAD_BYTES ? nowMs : endOf(first);
      if (nowMs - openedMs > OPEN_MS || isInFuture(openedMs, nowMs))
        await runKeep({ redis, keys }, place, ['', retention.number, 'over']);
      await redis.xtrim(stream, 'MINID', Math.max(0, nowMs - retention.ageMs));
    },
  };
}

async function runKeep(
  { redis, keys }: { redis: Redis; keys: Keys },
  place: ReceiptPlace,
  args: readonly (string | Buffer | number)[],
): Promise<void> {
  const { stream, open } = keysOf(keys, place);
  await keepScript.run(redis, [stream, open], args);
}

function keysOf(keys: Keys, { subscription, workspace }: ReceiptPlace): { stream: string; open: string } {
  return { stream: keys.receipts(subscription, workspace), open: keys.openReceipts(subscription, workspace) };
}

async function eraseIn(
  { redis, keys }: { redis: Redis; keys: Keys },
  place: ReceiptPlace,
  { recordId, isOf }: { recordId: string; isOf: (receipt: Receipt) => boolean },
): Promise<number> {
  const { stream, open } = keysOf(keys, place);
  const record = recordBytes(recordId);
  for (;;) {
    let erased = 0;
    const without = (chunk: Buffer): Buffer => {
      if (!chunk.includes(record)) return chunk;
      const all = receiptsIn(chunk, () => true);
      const kept = all.filter((packed) => !isOf(unpackReceipt(packed, place.workspace)));
      erased += all.length - kept.length;
      return Buffer.concat(kept);
    };
    const opened = (await redis.getBuffer(open)) ?? Buffer.alloc(0);
    const args = [opened, readChunk(opened, without, open)];
    for (let from = '-'; ;) {
      const entries = await redis.xrangeBuffer(stream, from, '+', 'COUNT', MOST_READ);
      for (const [id, [, chunk = opened]] of entries) {
        const kept = readChunk(chunk, without, stream);
        if (kept.length !== chunk.length) args.push(id, kept);
      }
      const last = entries.at(-1)?.[0];
      if (last === undefined || entries.length < MOST_READ) break;
      from = `(${last.toString()}`;
    }
    if (erased === 0 || (await replaceScript.run(redis, [stream, open], args)) === 'replaced') return erased;
  }
}

async function* chunksOf(
  { redis, keys }: { redis: Redis; keys: Keys },
  place: ReceiptPlace,
): AsyncGenerator<Buffer, void> {
  const { stream, open: openKey } = keysOf(keys, place);
  // At the same moment: the open ones may become an entry, and would be found twice, or not at all.
  const both = redis.multi().getBuffer(openKey).xrevrangeBuffer(stream, '+', '-', 'COUNT', FIRST_READ);
  const [[openError, open], [error, newest]] = ((await both.exec()) ?? []) as [
    [Error | null, Buffer | null],
    [Error | null, Entry[]],
  ];
  const failed = openError ?? error;
  if (failed !== null) throw failed;
  if (open !== null) yield open;
  let entries = newest;
  for (let asked = FIRST_READ; ;) {
    for (const [, [, chunk]] of entries) if (chunk !== undefined) yield chunk;
    const last = entries.at(-1)?.[0];
    if (last === undefined || entries.length < asked) return;
    asked = Math.min(4 * asked, MOST_READ);
    entries = await redis.xrevrangeBuffer(stream, `(${last.toString()}`, '-', 'COUNT', asked);
  }
}

type Entry = [id: Buffer, fields: Buffer[]];

/** The receipts of a chunk are compared as bytes first, which is much faster than one by one. */
function compileSearch({ sinceMs, eventIds, recordId, outcomes }: ReceiptSearch, workspace: string) {
  const events = eventIds?.map(idBytes);
  const record = recordId === undefined ? undefined : recordBytes(recordId);
  const holds = (bytes: Buffer): boolean =>
    (record === undefined || bytes.includes(record)) && (events?.some((event) => bytes.includes(event)) ?? true);
  const isAsked = ({ eventId, recordId: id, digest }: Receipt): boolean =>
    (eventIds !== undefined && digest !== undefined) ||
    ((eventIds?.includes(eventId) ?? true) && (recordId === undefined || id === recordId));
  return (chunk: Buffer): { found: Receipt[]; newestMs: number } => {
    const mayHold = holds(chunk);
    let newestMs = 0;
    const packed = receiptsIn(chunk, (at) => {
      const endedMs = endOf(chunk, at);
      newestMs = Math.max(newestMs, endedMs);
      if (endedMs < sinceMs || !(mayHold || (eventIds !== undefined && isOfDigest(chunk, at)))) return false;
      const outcome = outcomeOf(chunk, at);
      return outcomes?.some((one) => one === outcome) ?? true;
    });
    const held = packed.filter((bytes) => isOfDigest(bytes) || holds(bytes));
    return { found: held.map((bytes) => unpackReceipt(bytes, workspace)).filter(isAsked), newestMs };
  };
}

function readChunk<T>(chunk: Buffer, read: (chunk: Buffer) => T, key: string): T {
  try {
    return read(chunk);
  } catch {
    // A length or a number leads beyond the end.
    throw unreadable({ what: 'receipts of deliveries', key }, `${chunk.length} bytes that are none`);
  }
}
