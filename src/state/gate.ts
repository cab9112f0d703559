/**
 * The record gate in Redis: keeps the events of one record in order within a subscription. An ordering group is a range of
 * members in one sorted set, ordered by position; only the first of them may run. Two more keys hold which events are pending,
 * and the highest position entered: with it a repeated batch is recognised without remembering events that are done.
 */
import type { Redis } from 'ioredis';
import { describe } from '../errors.js';
import { gather } from '../runtime/gather.js';
import type {
  Claim,
  Followers,
  Delivery,
  Entry,
  Hold,
  Leave,
  MarkedEntry,
  Pending,
  RecordGate,
  Reentry,
  Standing,
  Turn,
} from '../dispatch/ports.js';
import type { Keys } from './keys.js';
import { loadScript, unexpectedAnswer, type Script } from './scripts.js';
import { unreadable } from './stored.js';

const enterScript = loadScript('group-enter');
const enterBackfillScript = loadScript('group-enter-backfill');
const reenterScript = loadScript('group-reenter');
const turnScript = loadScript('group-turn');
const leaveScript = loadScript('group-leave');
const holdScript = loadScript('group-hold');
const dropScript = loadScript('group-drop');
const absorbScript = loadScript('group-absorb');

/** Separates the parts of a member. Group names are escaped, so neither they nor positions contain it. */
const SEPARATOR = '\x1f';
const AFTER_SEPARATOR = '\x20';
const POSITION_WIDTH = 35;

/** Only the newest batch of a backfill is ever repeated. A repetition is recognised until this long after the batch. */
const MARK_KEPT_MS = 7 * 86_400_000;

/** Calls of the same turn of the event loop become one call of the script. */
type Gathered<Answer> = (claim: Claim) => Promise<Answer>;

export class RedisRecordGate implements RecordGate {
  readonly #redis: Redis;
  readonly #keys: Keys;
  readonly #gathered = new Map<string, { turn: Gathered<Turn>; leave: Gathered<Leave> }>();

  constructor(redis: Redis, keys: Keys) {
    this.#redis = redis;
    this.#keys = keys;
  }

  async enter(subscription: string, workspace: string, entries: readonly Entry[]): Promise<Standing[]> {
    const { groups, pending, entered } = this.#keys;
    const args = entries.flatMap(({ group, logId, eventId }) => [group ?? '', positionOf(logId), eventId]);
    const answer = await enterScript.run(
      this.#redis,
      [groups(subscription), pending(subscription), entered(subscription)],
      [workspace, entries.length, ...args],
    );
    return standingsOf(enterScript, answer, entries.length);
  }

  async enterBackfill(subscription: string, backfill: string, entries: readonly MarkedEntry[]): Promise<Standing[]> {
    const { groups, pending, entered, positions, backfillMark } = this.#keys;
    const keys = [
      ...[groups, pending, entered, positions].map((key) => key(subscription)),
      backfillMark(subscription, backfill),
    ];
    const args = entries.flatMap(({ workspace, group, logId, eventId, mark }) => {
      return [workspace, group ?? '', positionOf(logId), eventId, mark];
    });
    const answer = await enterBackfillScript.run(this.#redis, keys, [MARK_KEPT_MS, entries.length, ...args]);
    return standingsOf(enterBackfillScript, answer, entries.length);
  }

  async reenter(
    subscription: string,
    entry: Entry,
    { token, life }: { token: string | null; life: number },
  ): Promise<Reentry> {
    const { groups, pending, entered, positions, job, jobLock } = this.#keys;
    const { workspace, group, logId, eventId } = entry;
    const keys = [...[groups, pending, entered, positions].map((key) => key(subscription))];
    keys.push(job(subscription, eventId), jobLock(subscription, eventId));
    const args = [workspace, group ?? '', positionOf(logId), eventId, token ?? '', life];
    const [word, place = ''] = wordsOf(reenterScript, await reenterScript.run(this.#redis, keys, args), 2);
    if (word === 'placed') return { outcome: 'placed', position: place };
    if (word === 'taken-over') return { outcome: 'taken-over' };
    throw unexpectedAnswer(reenterScript, describe(word));
  }

  turn(subscription: string, claim: Claim): Promise<Turn> {
    return this.#gatheredFor(subscription).turn(claim);
  }

  leave(subscription: string, claim: Claim): Promise<Leave> {
    return this.#gatheredFor(subscription).leave(claim);
  }

  async hold(subscription: string, claim: Claim): Promise<Hold> {
    const { workspace, group, logId, position, eventId, holder } = claim;
    const args = [workspace, group ?? '', position ?? positionOf(logId), eventId, holder, origin(claim)];
    const word = await holdScript.run(this.#redis, this.#groupKeys(subscription), args);
    if (word === 'held' || word === 'taken-over') return { outcome: word };
    throw unexpectedAnswer(holdScript, describe(word));
  }

  async followers(subscription: string, { group, eventId }: Claim, most: number): Promise<string[]> {
    if (group === null) return [];
    const range = [`[${group}${SEPARATOR}`, `(${group}${AFTER_SEPARATOR}`] as const;
    const members = await this.#redis.zrangebylex(this.#keys.groups(subscription), ...range, 'LIMIT', 0, most + 1);
    const [head, ...followers] = members.map((member) => member.slice(group.length + POSITION_WIDTH + 2));
    return head === eventId ? followers : [];
  }

  async merge(
    subscription: string,
    claim: Claim,
    { followers, delivery }: Followers & { delivery: Delivery },
  ): Promise<Hold> {
    const [word] = await this.#absorb(subscription, claim, [JSON.stringify(delivery), ...followers]);
    if (word === 'merged') return { outcome: 'held' };
    if (word === 'taken-over') return { outcome: 'taken-over' };
    throw unexpectedAnswer(absorbScript, describe(word));
  }

  async leaveTogether(subscription: string, claim: Claim, { followers }: Followers): Promise<Leave> {
    const [word, next = ''] = await this.#absorb(subscription, claim, ['', ...followers]);
    if (word === 'left') return { outcome: 'left', next: next === '' ? null : next };
    if (word === 'taken-over') return { outcome: 'taken-over' };
    throw unexpectedAnswer(absorbScript, describe(word));
  }

  async #absorb(subscription: string, claim: Claim, args: readonly string[]): Promise<string[]> {
    const { workspace, group, eventId, holder } = claim;
    const keys = [...this.#groupKeys(subscription), this.#keys.job(subscription, eventId)];
    const answer = await absorbScript.run(this.#redis, keys, [workspace, group ?? '', eventId, holder, ...args]);
    return wordsOf(absorbScript, answer, 2);
  }

  async drop(subscription: string, { workspace, group, logId, eventId }: Entry): Promise<{ next: string | null }> {
    if (group === null) return { next: null };
    const args = [workspace, group, positionOf(logId), eventId];
    const answer = await dropScript.run(this.#redis, this.#groupKeys(subscription), args);
    const next = wordsOf(dropScript, answer, 2)[1] ?? '';
    return { next: next === '' ? null : next };
  }

  #groupKeys(subscription: string): string[] {
    const { groups, pending, holders, positions } = this.#keys;
    return [groups, pending, holders, positions].map((key) => key(subscription));
  }

  async pending(subscription: string, workspace: string): Promise<Pending> {
    const key = this.#keys.pending(subscription);
    const range = [`[${workspace}${SEPARATOR}`, `(${workspace}${AFTER_SEPARATOR}`] as const;
    const [events, [oldest]] = await Promise.all([
      this.#redis.zlexcount(key, ...range),
      this.#redis.zrangebylex(key, ...range, 'LIMIT', 0, 1),
    ]);
    return { events, oldest: oldest === undefined ? null : logIdOf(oldest.slice(workspace.length + 1), key) };
  }

  #gatheredFor(subscription: string): { turn: Gathered<Turn>; leave: Gathered<Leave> } {
    let gathered = this.#gathered.get(subscription);
    if (gathered === undefined) {
      gathered = {
        turn: gather((claims) => this.#turns(subscription, claims)),
        leave: gather((claims) => this.#leaves(subscription, claims)),
      };
      this.#gathered.set(subscription, gathered);
    }
    return gathered;
  }

  async #turns(subscription: string, claims: readonly Claim[]): Promise<Turn[]> {
    const { groups, pending, entered, holders, positions } = this.#keys;
    const keys = [groups, pending, entered, holders, positions].map((key) => key(subscription));
    const pairs = await this.#runClaims(turnScript, keys, claims);
    return pairs.map(([word, head]) => {
      if (word === 'go') return { outcome: 'go' };
      if (word === 'wait') return { outcome: 'wait', behind: head };
      if (word === 'left') return { outcome: 'left', next: head === '' ? null : head };
      if (word === 'taken-over') return { outcome: 'taken-over' };
      throw unexpectedAnswer(turnScript, describe(word));
    });
  }

  async #leaves(subscription: string, claims: readonly Claim[]): Promise<Leave[]> {
    const pairs = await this.#runClaims(leaveScript, this.#groupKeys(subscription), claims);
    return pairs.map(([word, head]) => {
      if (word === 'left') return { outcome: 'left', next: head === '' ? null : head };
      if (word === 'taken-over') return { outcome: 'taken-over' };
      throw unexpectedAnswer(leaveScript, describe(word));
    });
  }

  async #runClaims(script: Script, keys: readonly string[], claims: readonly Claim[]): Promise<[string, string][]> {
    const args = claims.flatMap((claim) => {
      const { workspace, group, logId, position, eventId, holder } = claim;
      return [workspace, group ?? '', position ?? positionOf(logId), eventId, holder, origin(claim)];
    });
    const words = wordsOf(script, await script.run(this.#redis, keys, [claims.length, ...args]), claims.length * 2);
    return claims.map((_, index) => [words[2 * index] ?? '', words[2 * index + 1] ?? '']);
  }
}

/** Where the event's position comes from. */
function origin({ retried, backfilled = false }: Claim): 'log' | 'retried' | 'backfill' {
  if (retried) return 'retried';
  return backfilled ? 'backfill' : 'log';
}

function standingsOf(script: Script, answer: unknown, count: number): Standing[] {
  const words = wordsOf(script, answer, count * 2);
  return words.slice(0, count).map((standing, index) => ({
    standing: standing as Standing['standing'],
    fresh: words[count + index] === 'fresh',
  }));
}

function wordsOf(script: Script, answer: unknown, count: number): string[] {
  if (Array.isArray(answer) && answer.length === count) return answer.map(String);
  throw unexpectedAnswer(script, describe(answer));
}

// A position is a log id, padded so that positions sort like the log. The last part numbers the positions given by scripts.
const POSITION = /^(\d{15})-(\d{10}):\d{8}$/;

function positionOf(logId: string): string {
  const [ms = '0', sequence = '0'] = logId.split('-');
  return `${ms.padStart(15, '0')}-${sequence.padStart(10, '0')}:00000000`;
}

function logIdOf(position: string, key: string): string {
  const match = POSITION.exec(position);
  if (match !== null) return `${Number(match[1])}-${Number(match[2])}`;
  const remedy = `ZREM removes the member; ZRANGE ${key} 0 -1 shows all.`;
  throw unreadable({ key, what: 'positions of pending events', remedy }, `${describe(position)} as a position`);
}
