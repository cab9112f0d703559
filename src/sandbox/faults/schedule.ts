/** Things that go wrong on the wire, as a layer around the one that answers; and the count that says when they do. */
import { gzipSync } from 'node:zlib';
import { emptyAnswer, htmlAnswer, jsonAnswer, type Answer, type Layer } from '../../server/read-api/answer.js';
import { refusal, unauthorised } from '../../server/read-api/respond.js';
import { hash32 } from '../world/random.js';
import { SCHEDULED_FAULTS, type Behaviour, type ScheduledFault } from './behaviour.js';
import { tooManyRequests } from './rate-limit.js';

/** Counts requests, and knows by their number what befalls each: the same seed and schedule, the same mishaps. */
export class FaultSchedule {
  readonly #seed: number;
  readonly #behaviour: () => Behaviour;
  readonly #struck = new Map<ScheduledFault, number>();
  #requests = 0;

  constructor(seed: number, behaviour: () => Behaviour) {
    this.#seed = seed;
    this.#behaviour = behaviour;
  }

  /** The next request has come. */
  tick(): void {
    this.#requests++;
  }

  get requests(): number {
    return this.#requests;
  }

  /** Does this befall the present request? */
  happens = (name: ScheduledFault): boolean => {
    const schedule = this.#behaviour().schedules[name];
    if (schedule === undefined) return false;
    const { every = 1, share = 1, after = 0, times = Infinity } = schedule;
    const struck = this.#struck.get(name) ?? 0;
    if (this.#requests <= after || struck >= times || this.#requests % every !== 0) return false;
    if (share < 1 && hash32(this.#seed, SCHEDULED_FAULTS.indexOf(name), this.#requests) / 0x1_0000_0000 >= share)
      return false;
    this.#struck.set(name, struck + 1);
    return true;
  };

  /** A schedule set anew counts its times anew. */
  forget(): void {
    this.#struck.clear();
  }
}

type Instead = (behaviour: Behaviour) => Answer;

/** Answers in place of the real one. */
const INSTEAD: Readonly<Partial<Record<ScheduledFault, Instead>>> = {
  'rate-limited': ({ limitHint }) => tooManyRequests(316, limitHint),
  unauthorised: ({ badToken }) => unauthorised('Bearer', { badToken }),
  forbidden: () => refusal(403, { message: 'Forbidden', reason: '허용되지 않은 IP 주소입니다: 203.0.113.7' }),
  'empty-400': () => emptyAnswer(400),
  'html-404': () => htmlAnswer(404, '404 Not Found'),
  'html-502': () => htmlAnswer(502, '502 Bad Gateway'),
  'json-500': () => refusal(500, { message: 'Internal Server Error', reason: ['일시적인 오류입니다.'] }),
  'refused-200': () => refusal(200, { message: '요청을 처리할 수 없습니다.' }),
  'listless-200': () => jsonAnswer(200, Buffer.from('{"success":true,"data":{}}')),
};

type Spoil = (page: Answer, behaviour: Behaviour) => Answer;

const half = ({ body }: Answer): number => Math.floor(body.length / 2);

/** Whoever gets this has not been shown the page: nothing of it counts as visible. */
function undelivered({ delivered: _delivered, ...page }: Answer): Answer {
  return page;
}

/** The real answer, spoilt on its way. */
const SPOILT: Readonly<Partial<Record<ScheduledFault, Spoil>>> = {
  truncated: (page) => ({ ...undelivered(page), body: page.body.subarray(0, half(page)) }),
  dropped: (page) => ({ ...undelivered(page), delivery: { how: 'dropped', afterBytes: half(page) } }),
  stalled: (page, { stallMs }) => ({ ...page, delivery: { how: 'stalled', afterBytes: half(page), ms: stallMs } }),
  oversized: (page, { oversizedBytes }) => ({
    ...undelivered(page),
    delivery: { how: 'padded', bytes: oversizedBytes },
  }),
  gzip: (page) => ({ ...page, headers: { ...page.headers, 'content-encoding': 'gzip' }, body: gzipSync(page.body) }),
};

const namesOf = (table: object): ScheduledFault[] => SCHEDULED_FAULTS.filter((name) => name in table);
const INSTEAD_NAMES = namesOf(INSTEAD);
const SPOILT_NAMES = namesOf(SPOILT);

/** At most one mishap takes the place of an answer; several may spoil it. */
export function faultLayer(schedule: FaultSchedule, behaviour: () => Behaviour): Layer {
  return (next) => async (request) => {
    schedule.tick();
    const instead = INSTEAD_NAMES.find(schedule.happens);
    if (instead !== undefined) return INSTEAD[instead]?.(behaviour()) ?? (await next(request));
    const answer = await next(request);
    if (answer.status !== 200 || request.list === null) return answer;
    return SPOILT_NAMES.filter(schedule.happens).reduceRight(
      (page, name) => SPOILT[name]?.(page, behaviour()) ?? page,
      answer,
    );
  };
}
