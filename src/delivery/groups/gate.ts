/**
 * Keeps the events of one record in order within a subscription. An ordering group is a list of entries, one per
 * delivery, in the order of the log. Only the first, the head, has a BullMQ job, so nothing else of the record can run.
 *
 *   enter     deliveries are appended, once; heads get a job (lua/group-enter.lua)
 *   standing  a run asks whether its delivery is still the head (lua/group-advance.lua, as the following)
 *   advance   the head is handled, or need not be: it leaves, and the next head gets a job
 *   drop      the same of a head that is dead, or was dropped
 *   hold      the head is dead and stays, so that its record waits (`whenDead: 'hold'`)
 *   failed    an attempt is noted, and nothing else: another one follows
 *   skip      what waits leaves, but for a head that runs or is held (lua/group-skip.lua)
 *   merge     entries behind the head leave, and the merged event takes the head's place (`settle`)
 *
 * All need BullMQ's lock of the job: a process that was suspended cannot let the next event start. A job
 * lost in a crash between two steps is added by the repetition. docs/internals/delivery.md goes through each crash.
 */
import { z } from 'zod';
import { describe } from '../../kit/errors.js';
import type { ChangeEvent } from '../../events/types.js';
import type { Redis } from '../../redis/client.js';
import { gatherEach } from '../../kit/gather.js';
import type { FailedAttempt } from '../failure.js';
import type { StoredTask } from '../act/backfills.js';
import { eventSchema } from '../../log/entry.js';
import { entryIn, logIdOf, packEntry, SEPARATOR, type GroupEntry } from './group-entry.js';
import { readDelayedTooFar, readHeads, type HeadJob } from './heads.js';
import type { Keys } from '../../redis/keys.js';
import { lineOf, type Receipt } from '../receipts/receipt.js';
import { createReads } from '../../redis/reads.js';
import { loadScript, unexpectedAnswer } from '../../redis/scripts.js';
import { readJson } from '../../redis/stored.js';

const enterScript = loadScript('group-enter', import.meta.url);
const advanceScript = loadScript('group-advance', import.meta.url);
const skipScript = loadScript('group-skip', import.meta.url);
const removeScript = loadScript('remove-letter', import.meta.url);

/** A repetition of a batch is recognised until this long after it. The serial of the log itself is kept. */
const SERIAL_KEPT_MS = 7 * 86_400_000;

export type { GroupEntry, HeadJob };

export interface StoredEvent {
  event: ChangeEvent;
  /** The attempts of a dead letter before it was retried. */
  earlierAttempts?: readonly FailedAttempt[];
}

export interface NewEntry extends GroupEntry {
  /** The ordering group: the record whose events stay in order. Null when the subscription has no order. */
  group: string | null;
  /** Its number within its source, in the form of a log id. */
  serial: string;
  stored?: StoredEvent;
  /** The id of a dead letter: if it is held as the head of the group, this entry takes its place. */
  replaces?: string;
}

/** Deliveries of one source, with ascending serials. A repeated batch of a source changes nothing. */
export interface SourceBatch {
  workspace: string;
  /** The workspace's log, a replay, a snapshot, or the retry of one dead letter. */
  source: string;
  /**
   * The offset in the log, the task of a backfill, or when a letter died that is retried. If another is stored now (a dispatcher went on, or Redis
   * back), nothing is entered. Null: the batch depends on nothing.
   */
  readAt: { offset: string } | { letter: string; diedAtMs: number } | StoredTask | null;
  entries: readonly NewEntry[];
}

export interface Claim {
  workspace: string;
  group: string | null;
  id: string;
  /** BullMQ's lock token: proves that this run still holds the job. Empty where there is no run, as of a dead letter. */
  token: string;
}

/** `left`: the delivery has left its group; `next` is the head now. */
type HasLeft = { outcome: 'left'; next: GroupEntry | null };
type TakenOver = { outcome: 'taken-over' };
/** It is pending, and its turn has come. Without an order there are no entries. */
interface IsHead {
  outcome: 'head';
  entries: readonly GroupEntry[];
  /** For how long the lock lasts at least, ms from when this was asked. */
  lockedForMs: number;
}
export type Standing = IsHead | HasLeft | TakenOver;
export type AdvanceOutcome = HasLeft | TakenOver;

/** What the step that is asked for leaves behind, if it is carried out. */
export interface NotedReceipts {
  receipts: readonly Receipt[];
  /** How many of the subscription and workspace are kept. */
  most: number;
}

interface Question {
  claim: Claim;
  verb: 'standing' | 'done' | 'handled' | 'drop' | 'hold' | 'retry' | 'merge';
  count: number;
  noted?: NotedReceipts | undefined;
  /** The entry and the event that the head gets. */
  merged?: readonly [entry: string, stored: string];
}

/** What the script answers to one question. */
type Answer = readonly [word: string, ...texts: string[]];

/** A word that does not mean the same for every question. */
interface OtherAnswer {
  outcome: 'other';
  word: string;
}

interface MergeCall {
  count: number;
  head: GroupEntry;
  stored: StoredEvent;
  noted?: NotedReceipts | undefined;
}

interface Scope {
  redis: Redis;
  keys: Keys;
}

export type RecordGate = ReturnType<typeof createRecordGate>;

/** Every operation can be repeated after a crash without further effect. */
export function createRecordGate(redis: Redis, keys: Keys) {
  const scope = { redis, keys };
  const { leave, stay, standing } = askersOf(scope);
  const reads = createReads(redis);
  return {
    /** `heads`: per entry, whether it is a head and its job must be added; empty: `readAt` was outdated. */
    enter: (subscription: string, batch: SourceBatch) => enter(scope, subscription, batch),
    /** At most `count` first entries of the group, if this delivery is its head. */
    standing: (subscription: string, claim: Claim, count = 1) =>
      standing(subscription, { claim, verb: 'standing', count }),
    /** `count` deliveries leave in one step: the head, and those behind it that were merged into it. */
    advance: (subscription: string, claim: Claim, noted?: NotedReceipts, count = 1) =>
      leave(subscription, { claim, verb: 'done', count, noted }),
    /** The same after the handler has succeeded. */
    handled: (subscription: string, claim: Claim, noted?: NotedReceipts) =>
      leave(subscription, { claim, verb: 'handled', count: 1, noted }),
    /** The same of one that is dead, or was dropped: a snapshot that sent it is not complete. */
    drop: (subscription: string, claim: Claim, noted?: NotedReceipts) =>
      leave(subscription, { claim, verb: 'drop', count: 1, noted }),
    /** Notes an attempt that has failed and is retried. */
    failed: (subscription: string, claim: Claim, noted: NotedReceipts) =>
      stay(subscription, { claim, verb: 'retry', count: 0, noted }, 'head'),
    hold: (subscription: string, claim: Claim, noted?: NotedReceipts) =>
      stay(subscription, { claim, verb: 'hold', count: 0, noted }, 'held'),
    /** In one step, the `count` entries behind the head leave, and the head becomes `head` with the event given. */
    merge(subscription: string, claim: Claim, { count, head, stored, noted }: MergeCall) {
      const merged = [packEntry(head), JSON.stringify(stored)] as const;
      return stay(subscription, { claim, verb: 'merge', count: count + 1, noted, merged }, 'head');
    },
    /**
     * Drops what waits behind this head and was logged up to `last`, and the head where nothing runs it.
     * @param replay only what this one has sent, or `all` of them. @defaultValue also what no replay has sent
     */
    skip: (subscription: string, head: HeadJob, last: string, replay?: string) =>
      skip(scope, subscription, { head, last, replay }),
    /** Removes a dead letter whose retry was entered. False: Redis has forgotten the retry since; nothing was done. */
    async removeLetter(subscription: string, { source, entries: [retry] }: SourceBatch): Promise<boolean> {
      const id = retry?.replaces ?? '';
      const touched = [keys.entered(subscription, source), keys.failedJobs(subscription), keys.job(subscription, id)];
      return (await removeScript.run(redis, touched, [retry?.serial ?? '', id])) === 'removed';
    },
    stored: gatherEach((subscription, ids: readonly string[]) => readAllStored(scope, subscription, ids)),
    /** The serial of the last delivery that was entered from a source; null: none was, or long ago. */
    lastEntered: (subscription: string, source: string) => redis.get(keys.entered(subscription, source)),
    /** `oldest`: log id, or just before it, of the oldest that is neither handled nor dead; `oldestMs`: logged at. */
    async pending(subscription: string, workspace: string) {
      const key = keys.pending(subscription, workspace);
      const answers = await Promise.all([reads('zcard', key), reads('zrange', key, 0, 0, 'WITHSCORES')]);
      const [events, [id, score]] = answers as [number, [id?: string, score?: string]];
      if (id === undefined || score === undefined) return { events, oldest: null, oldestMs: null, oldestId: null };
      return { events, oldest: logIdOf(score), oldestMs: timeOf(Number(score)), oldestId: id };
    },
    /** The ids of all deliveries that are neither handled nor dead. */
    pendingIds: (subscription: string, workspace: string) =>
      redis.zrange(keys.pending(subscription, workspace), '0', '-1'),
    /**
     * Not a snapshot: one that leaves meanwhile may be returned. Searches all keys of Redis once, and calls `alive`
     * after each step.
     */
    heads: (subscription: string, workspaces: readonly string[], alive: () => void = () => undefined) =>
      readHeads(scope, { subscription, workspaces, alive }),
    /** Ids of delayed jobs whose time is further away than they were to wait: a clock was ahead when they were put there. */
    delayedTooFar: (subscription: string, nowMs: number) => readDelayedTooFar(scope, subscription, nowMs),
  };
}

function askersOf({ redis, keys }: Scope) {
  /** Questions of the same turn of the event loop become one call of the script. */
  const askEach = gatherEach((place, questions: readonly Question[]) => askAll({ redis, keys }, place, questions));
  const ask = (subscription: string, question: Question) =>
    askEach(`${subscription}/${question.claim.workspace}`, question);
  const groupKey = (subscription: string, { claim }: Question) => keys.group(subscription, claim.group ?? '');
  const outcomeIn = (answer: Answer, subscription: string, question: Question): AdvanceOutcome | OtherAnswer => {
    const [word, next] = answer;
    if (word === 'taken-over') return { outcome: word };
    if (word !== 'left') return { outcome: 'other', word };
    return { outcome: word, next: next === undefined ? null : entryIn(next, groupKey(subscription, question)) };
  };
  /** The delivery leaves. */
  const leave = async (subscription: string, question: Question): Promise<AdvanceOutcome> => {
    const answer = outcomeIn(await ask(subscription, question), subscription, question);
    if (answer.outcome === 'other') throw unexpectedAnswer(advanceScript, describe(answer.word));
    return answer;
  };
  /** The delivery stays in its group, unless it has left before. */
  const stay = async <Word extends string>(subscription: string, question: Question, expected: Word) => {
    const answer = outcomeIn(await ask(subscription, question), subscription, question);
    if (answer.outcome !== 'other') return answer;
    if (answer.word === expected) return { outcome: expected };
    throw unexpectedAnswer(advanceScript, describe(answer.word));
  };
  const standing = async (subscription: string, question: Question): Promise<Standing> => {
    const words = await ask(subscription, question);
    const answer = outcomeIn(words, subscription, question);
    if (answer.outcome !== 'other') return answer;
    const [word, lockedFor, ...entries] = words;
    if (word !== 'head') throw unexpectedAnswer(advanceScript, describe(word));
    const key = groupKey(subscription, question);
    const found = entries.map((text) => entryIn(text, key));
    return { outcome: 'head', entries: found, lockedForMs: Number(lockedFor) };
  };
  return { leave, stay, standing };
}

async function enter(
  { redis, keys }: Scope,
  subscription: string,
  { workspace, source, readAt, entries }: SourceBatch,
): Promise<{ heads: readonly boolean[]; pending: number }> {
  const groups = [...new Set(entries.flatMap(({ group }) => group ?? []))];
  const position = positionOf({ redis, keys }, subscription, workspace, readAt);
  const touched = [
    keys.entered(subscription, source),
    keys.pending(subscription, workspace),
    keys.payloads(subscription),
    position.key,
    keys.undelivered(subscription, workspace),
    ...groups.map((group) => keys.group(subscription, group)),
  ];
  const indexes = new Map(groups.map((group, index) => [group, index + 1]));
  const args = entries.flatMap((entry) => [
    indexes.get(entry.group ?? '') ?? 0,
    entry.serial,
    packEntry(entry),
    entry.replaces ?? '',
    entry.stored === undefined ? '' : JSON.stringify(entry.stored),
  ]);
  const ttl = source === workspace ? 0 : SERIAL_KEPT_MS;
  const answer = await enterScript.run(redis, touched, [ttl, position.field, position.value, ...args]);
  if (Array.isArray(answer) && answer[0] === 'moved') return { pending: Number(answer[1]), heads: [] };
  if (!Array.isArray(answer) || answer.length !== entries.length + 1)
    throw unexpectedAnswer(enterScript, describe(answer));
  const [pending, ...standings] = answer as [number, ...string[]];
  return { pending, heads: standings.map((standing) => standing === 'head') };
}

/** The field that says where a batch was read, and its value then. */
function positionOf({ keys }: Scope, subscription: string, workspace: string, readAt: SourceBatch['readAt']) {
  const offsets = keys.offsets(subscription);
  if (readAt === null) return { key: offsets, field: '', value: '' };
  if ('offset' in readAt) return { key: offsets, field: workspace, value: readAt.offset };
  if ('task' in readAt) return { key: keys.backfills(subscription), field: readAt.name, value: readAt.text };
  // BullMQ's own: a job that lives, or is gone, has none.
  return { key: keys.job(subscription, readAt.letter), field: 'finishedOn', value: readAt.diedAtMs };
}

type Skipped =
  | { outcome: 'moved' }
  /** Of the head; `dropped`: what was; `next`: the head of the group now. */
  | { outcome: 'runs' | 'stays' | 'dropped'; dropped: readonly Dropped[]; next: GroupEntry | null };

/** `stored`: its own copy of its event; null: the log has it. */
export interface Dropped {
  id: string;
  stored: StoredEvent | null;
}

async function skip(
  { redis, keys }: Scope,
  subscription: string,
  { head: { workspace, group, entry }, last, replay }: { head: HeadJob; last: string; replay: string | undefined },
): Promise<Skipped> {
  const pending = keys.pending(subscription, workspace);
  const key = group === null ? pending : keys.group(subscription, group);
  const own = [keys.payloads(subscription), keys.jobLock(subscription, entry.id)];
  const answer = (await skipScript.run(redis, [key, pending, ...own], [entry.id, last, replay ?? ''])) as string[];
  const [outcome, next = '', ...flat] = answer;
  if (outcome === 'moved') return { outcome };
  if (outcome !== 'runs' && outcome !== 'stays' && outcome !== 'dropped')
    throw unexpectedAnswer(skipScript, describe(outcome));
  const dropped = flat.flatMap((id, at): Dropped[] => {
    const text = flat[at + 1] ?? '';
    return at % 2 === 0 ? [{ id, stored: text === '' ? null : storedIn(text, keys.payloads(subscription), id) }] : [];
  });
  return { outcome, dropped, next: next === '' ? null : entryIn(next, key) };
}

/** @param place subscription and workspace; the name of neither contains a slash */
async function askAll({ redis, keys }: Scope, place: string, questions: readonly Question[]) {
  const [subscription = '', workspace = ''] = place.split('/');
  const pending = keys.pending(subscription, workspace);
  const touched = questions.flatMap(({ claim: { group, id } }) => [
    group === null ? pending : keys.group(subscription, group),
    keys.jobLock(subscription, id),
  ]);
  const texts = questions.map(({ claim: { id, token }, verb, count, noted }) =>
    [verb, id, token, count, noted?.receipts.map(lineOf).join('') ?? ''].join(SEPARATOR),
  );
  const merged = questions.flatMap((question) => question.merged ?? []);
  const own = [keys.payloads(subscription), keys.health(subscription), pending];
  const kept = [keys.receipts, keys.openReceipts, keys.undelivered].map((keyOf) => keyOf(subscription, workspace));
  const most = Math.max(0, ...questions.map(({ noted }) => noted?.most ?? 0));
  const answer = await advanceScript.run(redis, [...own, ...kept, ...touched], [most, ...texts, ...merged]);
  if (Array.isArray(answer) && answer.length === questions.length) return answer as Answer[];
  throw unexpectedAnswer(advanceScript, describe(answer));
}

async function readAllStored({ redis, keys }: Scope, subscription: string, ids: readonly string[]) {
  const key = keys.payloads(subscription);
  const texts = await redis.hmget(key, ...ids);
  return texts.map((text, index) => (text === null ? null : storedIn(text, key, ids[index] ?? '')));
}

function storedIn(text: string, key: string, field: string): StoredEvent {
  return readJson(storedSchema, text, { what: 'an event of an ordering group', key, field });
}

const storedSchema = z.object({
  // Only what every reader relies on is checked, as of the events of the log.
  event: z.custom<ChangeEvent>((given) => eventSchema.safeParse(given).success),
  earlierAttempts: z.custom<readonly FailedAttempt[]>(Array.isArray).exactOptional(),
});

/** The log id of the oldest pending delivery, or a little before it. */
export async function readOldestPending(redis: Redis, key: string): Promise<string | null> {
  const [, score] = await redis.zrange(key, '0', '0', 'WITHSCORES');
  return score === undefined ? null : logIdOf(score);
}

/** The counterpart of `scoreOf` in group-enter.lua. Null: it is not known. */
function timeOf(score: number): number | null {
  if (score >= 1) return Math.floor(score);
  return score > 0 ? Math.round(score * 1e18) : null;
}
