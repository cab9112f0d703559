/** Faults in transport: when they occur, and the layer that applies them to answers. */
import { gzipSync } from 'node:zlib';
import { emptyAnswer, htmlAnswer, jsonAnswer, type Answer, type Layer } from '../../src/ops/server/read-api/answer.js';
import { refusal, unauthorised } from '../../src/ops/server/read-api/respond.js';
import { isCreditList } from '../world/lists.js';
import { hash32 } from '../world/random.js';
import { SCHEDULED_FAULTS, type Behaviour, type ScheduledFault } from './behaviour.js';
import { tooManyRequests } from './rate-limit.js';

/** Counts requests and decides by their number which faults occur: the same seed and schedule give the same faults. */
export class FaultSchedule {
  readonly #seed: number;
  readonly #behaviour: () => Behaviour;
  readonly #occurred = new Map<ScheduledFault, number>();
  #requests = 0;

  constructor(seed: number, behaviour: () => Behaviour) {
    this.#seed = seed;
    this.#behaviour = behaviour;
  }

  /** Counts the next request. */
  tick(): void {
    this.#requests++;
  }

  get requests(): number {
    return this.#requests;
  }

  /** Whether this fault occurs in the current request. */
  happens = (name: ScheduledFault): boolean => {
    const schedule = this.#behaviour().schedules[name];
    if (schedule === undefined) return false;
    const { every = 1, share = 1, after = 0, times = Infinity } = schedule;
    const occurred = this.#occurred.get(name) ?? 0;
    if (this.#requests <= after || occurred >= times || this.#requests % every !== 0) return false;
    if (share < 1 && hash32(this.#seed, SCHEDULED_FAULTS.indexOf(name), this.#requests) / 0x1_0000_0000 >= share)
      return false;
    this.#occurred.set(name, occurred + 1);
    return true;
  };

  /** Starts counting `times` again. Called when a schedule changes. */
  forget(): void {
    this.#occurred.clear();
  }
}

/** Refuses the history of people, organizations and leads, if it is switched off. */
export function withoutHistory(behaviour: () => Behaviour): Layer {
  return (next) => async (request) => {
    const { historyLists } = behaviour();
    if (historyLists === 'served' || !isCreditList(request.list ?? '')) return await next(request);
    return historyLists === '403' ? refusal(403, { message: 'Forbidden' }) : htmlAnswer(404, '404 Not Found');
  };
}

/** Answers that replace the real one. The first that occurs is sent. */
const REPLACEMENTS: readonly [ScheduledFault, (behaviour: Behaviour) => Answer][] = [
  ['rate-limited', ({ limitHint }) => tooManyRequests(316, limitHint)],
  ['unauthorised', () => unauthorised('Bearer')],
  ['forbidden', () => refusal(403, { message: 'Forbidden', reason: '허용되지 않은 IP 주소입니다: 203.0.113.7' })],
  ['empty-400', () => emptyAnswer(400)],
  ['html-404', () => htmlAnswer(404, '404 Not Found')],
  ['html-502', () => htmlAnswer(502, '502 Bad Gateway')],
  ['json-500', () => refusal(500, { message: 'Internal Server Error', reason: ['일시적인 오류입니다.'] })],
  ['refused-200', () => refusal(200, { message: '요청을 처리할 수 없습니다.' })],
  ['listless-200', () => jsonAnswer(200, Buffer.from('{"success":true,"data":{}}'))],
];

const half = ({ body }: Answer): number => Math.floor(body.length / 2);

/** The client cannot read this page, so its records do not count as visible. */
function undelivered({ delivered: _delivered, ...page }: Answer): Answer {
  return page;
}

/** Changes to the real answer, each to what those before it have made. */
const CHANGES: readonly [ScheduledFault, (page: Answer, behaviour: Behaviour) => Answer][] = [
  [
    'gzip',
    (page) => ({ ...page, headers: { ...page.headers, 'content-encoding': 'gzip' }, body: gzipSync(page.body) }),
  ],
  [
    'oversized',
    (page, { oversizedBytes }) => ({ ...undelivered(page), delivery: { how: 'padded', bytes: oversizedBytes } }),
  ],
  ['dropped', (page) => ({ ...undelivered(page), delivery: { how: 'dropped', afterBytes: half(page) } })],
  ['stalled', (page, { stallMs }) => ({ ...page, delivery: { how: 'stalled', afterBytes: half(page), ms: stallMs } })],
  ['truncated', (page) => ({ ...undelivered(page), body: page.body.subarray(0, half(page)) })],
];

/** At most one fault replaces the answer; several can change it. */
export function faultLayer(schedule: FaultSchedule, behaviour: () => Behaviour): Layer {
  return (next) => async (request) => {
    schedule.tick();
    const [, replacement] = REPLACEMENTS.find(([name]) => schedule.happens(name)) ?? [];
    if (replacement !== undefined) return replacement(behaviour());
    const answer = await next(request);
    if (answer.status !== 200 || request.list === null) return answer;
    const changes = CHANGES.filter(([name]) => schedule.happens(name));
    return changes.reduce((page, [, change]) => change(page, behaviour()), answer);
  };
}
