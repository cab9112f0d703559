/**
 * The record gate in Redis: keeps the events of one record in order within a subscription. An ordering group is a list of entries, one per
 * delivery, in the order of the log. Only the first, the head, has a BullMQ job, so nothing else of the record can run.
 *
 *   enter     deliveries are appended, once; those that are heads get a job (lua/group-enter.lua)
 *   look      a run asks whether its delivery is still the head (lua/group-advance.lua, as the following)
 *   advance   the head is handled or dead: it leaves, and the next head gets a job
 *   hold      the head is dead and stays, so that its record waits (`whenDead: 'hold'`)
 *   merge     entries behind the head leave, and the merged event takes the head's place (`settle`)
 *
 * All but `look` are refused unless the run holds BullMQ's lock of its job: a process that was suspended cannot let the next event start. A
 * job that is lost in a crash between two steps is added again by the repetition. docs/fan-out.md goes through each crash.
 */
import type { Redis } from 'ioredis';
import { z } from 'zod';
import { describe } from '../errors.js';
import { systemClock } from '../runtime/clock.js';
import { gatherEach } from '../runtime/gather.js';
import type {
  Advance,
  Batch,
  Claim,
  Entered,
  Entry,
  Heads,
  Hold,
  Look,
  Merge,
  Pending,
  RecordGate,
  StoredEvent,
} from '../dispatch/ports.js';
import { eventSchema } from './event-log.js';
import type { Keys } from './keys.js';
import { loadScript, unexpectedAnswer } from './scripts.js';
import { readJson, unreadable } from './stored.js';

const enterScript = loadScript('group-enter');
const advanceScript = loadScript('group-advance');

/** A repetition of a batch is recognised until this long after it. The mark of the log itself is kept. */
const MARK_KEPT_MS = 7 * 86_400_000;
/** Keys looked at by one step of a search. */
const SCANNED = 1_000;

interface Question {
  claim: Claim;
  verb: 'look' | 'done' | 'hold' | 'merge';
  count: number;
  entry?: string;
  stored?: string;
}

type Answer = [word: string, ...entries: string[]];

export class RedisRecordGate implements RecordGate {
  readonly #redis: Redis;
  readonly #keys: Keys;
  /** Questions of the same turn of the event loop become one call of the script. */
  readonly #ask = gatherEach((subscription, questions: readonly Question[]) =>
    this.#askTogether(subscription, questions),
  );

  readonly #stored = gatherEach((subscription, ids: readonly string[]) => this.#readStored(subscription, ids));

  constructor(redis: Redis, keys: Keys) {
    this.#redis = redis;
    this.#keys = keys;
  }

  async enter(subscription: string, { workspace, source, entries }: Batch): Promise<Entered> {
    const groups = [...new Set(entries.flatMap(({ group }) => group ?? []))];
    const indexes = new Map(groups.map((group, index) => [group, index + 1]));
    const keys = [
      this.#keys.entered(subscription, source),
      this.#keys.pending(subscription, workspace),
      this.#keys.payloads(subscription),
      ...groups.map((group) => this.#keys.group(subscription, group)),
    ];
    const args = entries.flatMap((entry) => [
      entry.group === null ? 0 : (indexes.get(entry.group) ?? 0),
      entry.mark,
      packEntry(entry),
      entry.replaces ?? '',
      entry.stored === undefined ? '' : JSON.stringify(entry.stored),
    ]);
    const askedAtMs = systemClock.now();
    const answer = await enterScript.run(this.#redis, keys, [source === workspace ? 0 : MARK_KEPT_MS, ...args]);
    if (!Array.isArray(answer) || answer.length !== entries.length + 1)
      throw unexpectedAnswer(enterScript, describe(answer));
    const [pending, ...standings] = answer as [number, ...string[]];
    return { pending, heads: standings.map((standing) => standing === 'head'), askedAtMs };
  }

  async look(subscription: string, claim: Claim, most = 1): Promise<Look> {
    const askedAtMs = systemClock.now();
    const [word, ...entries] = await this.#ask(subscription, { claim, verb: 'look', count: most });
    const found = entries.map((entry) => this.#entryOf(entry, subscription, claim));
    if (word === 'head') return { outcome: 'head', entries: found };
    if (word === 'left') return { outcome: 'left', next: found[0] ?? null, askedAtMs };
    throw unexpectedAnswer(advanceScript, describe(word));
  }

  async advance(subscription: string, claim: Claim, count = 1): Promise<Advance> {
    return this.#change<never>(subscription, { claim, verb: 'done', count });
  }

  async hold(subscription: string, claim: Claim): Promise<Hold> {
    return this.#change<'held'>(subscription, { claim, verb: 'hold', count: 0 }, 'held');
  }

  async merge(
    subscription: string,
    claim: Claim,
    { count, head, stored }: { count: number; head: Entry; stored: StoredEvent },
  ): Promise<Merge> {
    const parts = { entry: packEntry(head), stored: JSON.stringify(stored) };
    return this.#change<'head'>(subscription, { claim, verb: 'merge', count: count + 1, ...parts }, 'head');
  }

  stored(subscription: string, id: string): Promise<StoredEvent | null> {
    return this.#stored(subscription, id);
  }

  async pending(subscription: string, workspace: string): Promise<Pending> {
    const key = this.#keys.pending(subscription, workspace);
    const [events, oldest] = await Promise.all([this.#redis.zcard(key), readOldestPending(this.#redis, key)]);
    return { events, oldest };
  }

  async heads(subscription: string, workspace: string): Promise<Heads> {
    const scored = await this.#redis.zrange(this.#keys.pending(subscription, workspace), '0', '-1', 'WITHSCORES');
    const left = new Map<string, string>();
    for (let at = 0; at < scored.length; at += 2) left.set(scored[at] ?? '', scored[at + 1] ?? '');
    const ordered = new Map<string, { entry: Entry; held: boolean }>();
    const match = this.#keys.groupsOf(subscription, workspace);
    for await (const found of this.#redis.scanStream({ match, count: SCANNED })) {
      for (const { group, texts } of await this.#readGroups(subscription, found as string[])) {
        const [head, ...behind] = texts;
        if (head === undefined) continue;
        const entry = this.#entryOf(head, subscription, { workspace, group, id: '', token: '' });
        ordered.set(group, { entry, held: !left.delete(entry.id) });
        for (const text of behind) left.delete(idOf(text));
      }
    }
    return {
      ordered: [...ordered].map(([group, head]) => ({ group, ...head })),
      unordered: [...left].map(([id, score]) => ({ id, logId: logIdOf(score) })),
    };
  }

  async #readGroups(subscription: string, keys: readonly string[]): Promise<{ group: string; texts: string[] }[]> {
    const start = this.#keys.group(subscription, '').length;
    const lists = await Promise.all(keys.map((key) => this.#redis.lrange(key, 0, -1)));
    return keys.map((key, index) => ({ group: key.slice(start), texts: lists[index] ?? [] }));
  }

  async #readStored(subscription: string, ids: readonly string[]): Promise<(StoredEvent | null)[]> {
    const key = this.#keys.payloads(subscription);
    const texts = await this.#redis.hmget(key, ...ids);
    return texts.map((text, index) => {
      const field = ids[index] ?? '';
      const remedy = `HDEL ${key} "${field}" drops the event; its delivery then counts as handled.`;
      return text === null ? null : readJson(storedSchema, text, { key, field, what: 'an event', remedy });
    });
  }

  async #change<Word extends string>(
    subscription: string,
    question: Question,
    expected?: Word,
  ): Promise<Advance | { outcome: Word }> {
    const askedAtMs = systemClock.now();
    const [word, text] = await this.#ask(subscription, question);
    if (word === 'taken-over') return { outcome: word };
    if (word === 'left') {
      const next = text === undefined ? null : this.#entryOf(text, subscription, question.claim);
      return { outcome: word, next, askedAtMs };
    }
    if (expected !== undefined && word === (expected as string)) return { outcome: expected };
    throw unexpectedAnswer(advanceScript, describe(word));
  }

  async #askTogether(subscription: string, questions: readonly Question[]): Promise<Answer[]> {
    const keys = questions.flatMap(({ claim: { workspace, group, id } }) => {
      const pending = this.#keys.pending(subscription, workspace);
      return [
        group === null ? pending : this.#keys.group(subscription, group),
        pending,
        this.#keys.jobLock(subscription, id),
      ];
    });
    const args = questions.flatMap(({ claim: { id, token }, verb, count, entry = '', stored = '' }) => {
      return [verb, id, token, count, entry, stored];
    });
    const answer = await advanceScript.run(this.#redis, [this.#keys.payloads(subscription), ...keys], args);
    if (Array.isArray(answer) && answer.length === questions.length) return answer as Answer[];
    throw unexpectedAnswer(advanceScript, describe(answer));
  }

  #entryOf(text: string, subscription: string, { group }: Claim): Entry {
    const [id = '', logId = '', at = '', kind = '', type = ''] = text.split(SEPARATOR);
    if (isKind(kind) && LOG_ID.test(logId)) return { id, logId, atMs: Number(at), kind, type };
    const key = this.#keys.group(subscription, group ?? '');
    const remedy = `LPOP removes the first entry; LRANGE ${key} 0 -1 shows all.`;
    throw unreadable({ key, what: 'entries of an ordering group', remedy }, `${describe(text)} as an entry`);
  }
}

const storedSchema: z.ZodType<StoredEvent> = z.object({
  event: eventSchema,
  traceparent: z.string().optional(),
  former: z.array(z.unknown()).optional(),
}) as never;

const LOG_ID = /^\d+-\d+$/;
const SEPARATOR = '\x1f';

/** The counterpart of lua/shared/entry.lua. */
function packEntry({ id, logId, atMs, kind, type }: Entry): string {
  return [id, logId, atMs, kind, type].join(SEPARATOR);
}

function isKind(text: string): text is Entry['kind'] {
  return text === 'logged' || text === 'stored' || text === 'decided';
}

function idOf(entry: string): string {
  return entry.split(SEPARATOR, 1)[0] ?? '';
}

/** The log id of the oldest pending delivery, or a little before it. */
export async function readOldestPending(redis: Redis, key: string): Promise<string | null> {
  const [, score] = await redis.zrange(key, '0', '0', 'WITHSCORES');
  return score === undefined ? null : logIdOf(score);
}

/** The counterpart of `scoreOf` in group-enter.lua: the log id, or a little before it. */
function logIdOf(score: string): string {
  const ms = Math.floor(Number(score));
  return `${ms}-${Math.round((Number(score) - ms) * 4_096)}`;
}
