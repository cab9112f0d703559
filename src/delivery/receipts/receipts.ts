/**
 * The receipts of each subscription and workspace: a stream of entries of some 5 kB, and the open ones, which are not in an entry yet. A receipt
 * is made where an attempt ends (note.ts), and written by the script that moves the group on (groups/lua/group-advance.lua). It goes with its
 * entry, by age and number (`trim`, on the clock of workers/dispatch.ts), and with an erased record.
 */
import type { Redis } from '../../redis/client.js';
import { isInFuture } from '../../kit/stored-time.js';
import type { Keys } from '../../redis/keys.js';
import type { NotedReceipts } from '../groups/gate.js';
import {
  DIGEST_MARK,
  endOf,
  hasOutcome,
  idText,
  lineOf,
  linesIn,
  receiptIn,
  recordText,
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
      for await (const chunk of chunksOf({ redis, keys }, place, search.sinceMs))
        yield* readChunk(chunk, read, keysOf(keys, place).stream).reverse();
    },
    /** Keeps receipts of deliveries that are not in the queue. */
    keep: (place: ReceiptPlace, { receipts, most }: NotedReceipts) =>
      runKeep({ redis, keys }, place, [receipts.map(lineOf).join(''), most, '']),
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
      const lines = await redis.get(open);
      const openedMs = lines === null ? nowMs : endOf(lines);
      if (Number.isNaN(openedMs) || nowMs - openedMs > OPEN_MS || isInFuture(openedMs, nowMs))
        await runKeep({ redis, keys }, place, ['', retention.number, 'over']);
      await redis.xtrim(stream, 'MINID', Math.max(0, nowMs - retention.ageMs));
    },
  };
}

async function runKeep(
  { redis, keys }: { redis: Redis; keys: Keys },
  place: ReceiptPlace,
  args: readonly (string | number)[],
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
  const record = recordText(recordId);
  for (;;) {
    let erased = 0;
    const without = (chunk: Buffer): Buffer => {
      if (!chunk.includes(record)) return chunk;
      const all = linesIn(chunk);
      const kept = all.filter((line) => !isOf(receiptIn(line, place.workspace)));
      erased += all.length - kept.length;
      return Buffer.from(kept.map((line) => `${line}\n`).join(''));
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
  sinceMs: number,
): AsyncGenerator<Buffer, void> {
  const { stream, open: openKey } = keysOf(keys, place);
  // The id of an entry is when it was made, after the last of its attempts had ended.
  const oldest = Math.max(0, Math.floor(sinceMs));
  // At the same moment: the open ones may become an entry, and would be found twice, or not at all.
  const both = redis.multi().getBuffer(openKey).xrevrangeBuffer(stream, '+', oldest, 'COUNT', FIRST_READ);
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
    entries = await redis.xrevrangeBuffer(stream, `(${last.toString()}`, oldest, 'COUNT', asked);
  }
}

type Entry = [id: Buffer, fields: Buffer[]];

/** A chunk is compared as a whole first, which is much faster than its lines one by one. */
function compileSearch({ sinceMs, eventIds, recordId, outcomes }: ReceiptSearch, workspace: string) {
  const events = eventIds && new Set(eventIds);
  const eventTexts = eventIds?.map(idText);
  const record = recordId === undefined ? '' : recordText(recordId);
  const mayHold = (chunk: Buffer): boolean =>
    (events !== undefined && chunk.includes(DIGEST_MARK)) ||
    (chunk.includes(record) && (eventTexts?.some((text) => chunk.includes(text)) ?? true));
  const isAsked = ({ endedAtMs, eventId, recordId: id, digest }: Receipt): boolean =>
    endedAtMs >= sinceMs &&
    ((events !== undefined && digest !== undefined) ||
      ((events?.has(eventId) ?? true) && (recordId === undefined || id === recordId)));
  return (chunk: Buffer): Receipt[] => {
    if (!mayHold(chunk)) return [];
    const lines = linesIn(chunk).filter((line) => outcomes === undefined || hasOutcome(line, outcomes));
    return lines.map((line) => receiptIn(line, workspace)).filter(isAsked);
  };
}

function readChunk<T>(chunk: Buffer, read: (chunk: Buffer) => T, key: string): T {
  try {
    return read(chunk);
  } catch {
    throw unreadable({ what: 'receipts of deliveries', key }, `${chunk.length} bytes that are none`);
  }
}
