/**
 * The record gate in Redis. A lane is a run of neighbours in one sorted set, ordered by the place in the log; the first
 * of them may run. Beside it: which events are pending, and how far the log has been entered, so that a repeated batch
 * is told from a new one without remembering any single event that is done.
 */
import type { Redis } from 'ioredis';
import { ChangefeedError, describe } from '../errors.js';
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
import { unexpectedAnswer } from './answer.js';
import type { Keys } from './keys.js';
import { loadScript, type Script } from './scripts.js';

const enterScript = loadScript('lane-enter');
const againScript = loadScript('lane-again');
const reviveScript = loadScript('lane-revive');
const turnScript = loadScript('lane-turn');
const leaveScript = loadScript('lane-leave');
const holdScript = loadScript('lane-hold');
const dropScript = loadScript('lane-drop');
const alongScript = loadScript('lane-along');

/** Separates the parts of a member; an escaped lane and a place never contain it. */
const SEPARATOR = '\x1f';
const AFTER_SEPARATOR = '\x20';
const PLACE_WIDTH = 35;

/** Only the newest batch of a feed is ever repeated: this is how late, after a crash, that is still recognised. */
const MARK_KEPT_MS = 7 * 86_400_000;

type Ask<Answer> = (claim: Claim) => Promise<Answer>;

export class RedisRecordGate implements RecordGate {
  readonly #redis: Redis;
  readonly #keys: Keys;
  readonly #asks = new Map<string, { turn: Ask<Turn>; leave: Ask<Leave> }>();

  constructor(redis: Redis, keys: Keys) {
    this.#redis = redis;
    this.#keys = keys;
  }

  async enter(subscription: string, workspace: string, entries: readonly Entry[]): Promise<Standing[]> {
    const { lanes, pending, entered } = this.#keys;
    const args = entries.flatMap(({ group: lane, logId, eventId }) => [lane ?? '', placeOf(logId), eventId]);
    const answer = await enterScript.run(
      this.#redis,
      [lanes(subscription), pending(subscription), entered(subscription)],
      [workspace, entries.length, ...args],
    );
    return standingsOf(enterScript, answer, entries.length);
  }

  async enterBackfill(subscription: string, feed: string, entries: readonly MarkedEntry[]): Promise<Standing[]> {
    const { lanes, pending, entered, revived, feedMark } = this.#keys;
    const keys = [...[lanes, pending, entered, revived].map((key) => key(subscription)), feedMark(subscription, feed)];
    const args = entries.flatMap(({ workspace, group: lane, logId, eventId, mark }) => {
      return [workspace, lane ?? '', placeOf(logId), eventId, mark];
    });
    const answer = await againScript.run(this.#redis, keys, [MARK_KEPT_MS, entries.length, ...args]);
    return standingsOf(againScript, answer, entries.length);
  }

  async reenter(
    subscription: string,
    entry: Entry,
    { token, life }: { token: string | null; life: number },
  ): Promise<Reentry> {
    const { lanes, pending, entered, revived, job, jobLock } = this.#keys;
    const { workspace, group: lane, logId, eventId } = entry;
    const keys = [...[lanes, pending, entered, revived].map((key) => key(subscription))];
    keys.push(job(subscription, eventId), jobLock(subscription, eventId));
    const args = [workspace, lane ?? '', placeOf(logId), eventId, token ?? '', life];
    const [word, place = ''] = wordsOf(reviveScript, await reviveScript.run(this.#redis, keys, args), 2);
    if (word === 'placed') return { outcome: 'placed', position: place };
    if (word === 'taken-over') return { outcome: 'taken-over' };
    throw unexpectedAnswer(reviveScript, describe(word));
  }

  turn(subscription: string, claim: Claim): Promise<Turn> {
    return this.#askers(subscription).turn(claim);
  }

  leave(subscription: string, claim: Claim): Promise<Leave> {
    return this.#askers(subscription).leave(claim);
  }

  async hold(subscription: string, claim: Claim): Promise<Hold> {
    const { workspace, group: lane, logId, position: place, eventId, holder } = claim;
    const args = [workspace, lane ?? '', place ?? placeOf(logId), eventId, holder, origin(claim)];
    const word = await holdScript.run(this.#redis, this.#laneKeys(subscription), args);
    if (word === 'held' || word === 'taken-over') return { outcome: word };
    throw unexpectedAnswer(holdScript, describe(word));
  }

  async followers(subscription: string, { group: lane, eventId }: Claim, most: number): Promise<string[]> {
    if (lane === null) return [];
    const range = [`[${lane}${SEPARATOR}`, `(${lane}${AFTER_SEPARATOR}`] as const;
    const members = await this.#redis.zrangebylex(this.#keys.lanes(subscription), ...range, 'LIMIT', 0, most + 1);
    const [head, ...followers] = members.map((member) => member.slice(lane.length + PLACE_WIDTH + 2));
    return head === eventId ? followers : [];
  }

  async merge(
    subscription: string,
    claim: Claim,
    { followers, delivery }: Followers & { delivery: Delivery },
  ): Promise<Hold> {
    const [word] = await this.#along(subscription, claim, [JSON.stringify(delivery), ...followers]);
    if (word === 'merged') return { outcome: 'held' };
    if (word === 'taken-over') return { outcome: 'taken-over' };
    throw unexpectedAnswer(alongScript, describe(word));
  }

  async leaveTogether(subscription: string, claim: Claim, { followers }: Followers): Promise<Leave> {
    const [word, next = ''] = await this.#along(subscription, claim, ['', ...followers]);
    if (word === 'left') return { outcome: 'left', next: next === '' ? null : next };
    if (word === 'taken-over') return { outcome: 'taken-over' };
    throw unexpectedAnswer(alongScript, describe(word));
  }

  async #along(subscription: string, claim: Claim, args: readonly string[]): Promise<string[]> {
    const { workspace, group: lane, eventId, holder } = claim;
    const keys = [...this.#laneKeys(subscription), this.#keys.job(subscription, eventId)];
    const answer = await alongScript.run(this.#redis, keys, [workspace, lane ?? '', eventId, holder, ...args]);
    return wordsOf(alongScript, answer, 2);
  }

  async drop(
    subscription: string,
    { workspace, group: lane, logId, eventId }: Entry,
  ): Promise<{ next: string | null }> {
    if (lane === null) return { next: null };
    const args = [workspace, lane, placeOf(logId), eventId];
    const answer = await dropScript.run(this.#redis, this.#laneKeys(subscription), args);
    const next = wordsOf(dropScript, answer, 2)[1] ?? '';
    return { next: next === '' ? null : next };
  }

  #laneKeys(subscription: string): string[] {
    const { lanes, pending, holders, revived } = this.#keys;
    return [lanes, pending, holders, revived].map((key) => key(subscription));
  }

  async pending(subscription: string, workspace: string): Promise<Pending> {
    const key = this.#keys.pending(subscription);
    const range = [`[${workspace}${SEPARATOR}`, `(${workspace}${AFTER_SEPARATOR}`] as const;
    const [events, [oldest]] = await Promise.all([
      this.#redis.zlexcount(key, ...range),
      this.#redis.zrangebylex(key, ...range, 'LIMIT', 0, 1),
    ]);
    return { events, oldest: oldest === undefined ? null : logIdOf(oldest.slice(workspace.length + 1)) };
  }

  #askers(subscription: string): { turn: Ask<Turn>; leave: Ask<Leave> } {
    let asks = this.#asks.get(subscription);
    if (asks === undefined) {
      asks = {
        turn: gather((claims) => this.#turns(subscription, claims)),
        leave: gather((claims) => this.#leaves(subscription, claims)),
      };
      this.#asks.set(subscription, asks);
    }
    return asks;
  }

  async #turns(subscription: string, claims: readonly Claim[]): Promise<Turn[]> {
    const { lanes, pending, entered, holders, revived } = this.#keys;
    const keys = [lanes, pending, entered, holders, revived].map((key) => key(subscription));
    const pairs = await this.#ask(turnScript, keys, claims);
    return pairs.map(([word, head]) => {
      if (word === 'go') return { outcome: 'go' };
      if (word === 'wait') return { outcome: 'wait', behind: head };
      if (word === 'left') return { outcome: 'left', next: head === '' ? null : head };
      if (word === 'taken-over') return { outcome: 'taken-over' };
      throw unexpectedAnswer(turnScript, describe(word));
    });
  }

  async #leaves(subscription: string, claims: readonly Claim[]): Promise<Leave[]> {
    const pairs = await this.#ask(leaveScript, this.#laneKeys(subscription), claims);
    return pairs.map(([word, head]) => {
      if (word === 'left') return { outcome: 'left', next: head === '' ? null : head };
      if (word === 'taken-over') return { outcome: 'taken-over' };
      throw unexpectedAnswer(leaveScript, describe(word));
    });
  }

  async #ask(script: Script, keys: readonly string[], claims: readonly Claim[]): Promise<[string, string][]> {
    const args = claims.flatMap((claim) => {
      const { workspace, group: lane, logId, position: place, eventId, holder } = claim;
      return [workspace, lane ?? '', place ?? placeOf(logId), eventId, holder, origin(claim)];
    });
    const words = wordsOf(script, await script.run(this.#redis, keys, [claims.length, ...args]), claims.length * 2);
    return claims.map((_, index) => [words[2 * index] ?? '', words[2 * index + 1] ?? '']);
  }
}

/** How the scripts are told where an event's place comes from. */
function origin({ retried: revived, backfilled: beside = false }: Claim): '0' | '1' | '2' {
  if (revived) return '1';
  return beside ? '2' : '0';
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

// A place is a log id written so that the order of texts is the order of the log; the last part counts revivals.
const PLACE = /^(\d{15})-(\d{10}):\d{8}$/;

function placeOf(logId: string): string {
  const [ms = '0', sequence = '0'] = logId.split('-');
  return `${ms.padStart(15, '0')}-${sequence.padStart(10, '0')}:00000000`;
}

function logIdOf(place: string): string {
  const match = PLACE.exec(place);
  if (match !== null) return `${Number(match[1])}-${Number(match[2])}`;
  throw new ChangefeedError('CF_STATE_UNREADABLE', {
    message: `A pending event has a place of a form this release does not know (${describe(place)}). Run one release of Changefeed against one Redis.`,
  });
}
