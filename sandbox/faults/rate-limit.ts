/** The rate limit of a workspace: a sliding window, shared with another client. */
import { jsonAnswer, emptyAnswer, htmlAnswer, type Answer, type Layer } from '../../src/ops/server/read-api/answer.js';
import { failureBody } from '../../src/ops/server/read-api/envelope.js';
import { refusal } from '../../src/ops/server/read-api/respond.js';
import type { Behaviour } from './behaviour.js';

export class SlidingWindow {
  /** Times of admitted requests, oldest first. */
  readonly #times: number[] = [];
  #foreignUntil: number | null = null;

  /** 0 when the request is admitted, otherwise the ms until the next one would be. Refused requests do not count. */
  take(now: number, rules: Behaviour): number {
    if (rules.limitRequests <= 0) return 0;
    this.#takeForeign(now, rules);
    return this.#admit(now, rules.limitRequests, rules.limitWindowMs);
  }

  #admit(now: number, requests: number, windowMs: number): number {
    while ((this.#times[0] ?? Infinity) <= now - windowMs) this.#times.shift();
    const used = this.#times.length;
    if (used < requests) {
      this.#times.push(now);
      return 0;
    }
    // The request that must leave the window first. After the limit was lowered, that is not the oldest one.
    const leaving = this.#times[used - requests] ?? now;
    return leaving + windowMs - now;
  }

  /** Counts the other client's requests since the last call, spread evenly. */
  #takeForeign(now: number, { limitRequests, limitWindowMs, foreignPerSecond }: Behaviour): void {
    if (foreignPerSecond <= 0) {
      this.#foreignUntil = null;
      return;
    }
    const stepMs = 1_000 / foreignPerSecond;
    this.#foreignUntil = Math.max(this.#foreignUntil ?? now, now - limitWindowMs);
    for (; this.#foreignUntil <= now; this.#foreignUntil += stepMs)
      this.#admit(this.#foreignUntil, limitRequests, limitWindowMs);
  }
}

export function rateLimited(window: SlidingWindow, behaviour: () => Behaviour, now: () => number): Layer {
  return (next) => async (request) => {
    const waitMs = window.take(now(), behaviour());
    return waitMs > 0 ? tooManyRequests(waitMs, behaviour().limitHint) : await next(request);
  };
}

const MESSAGE = 'Too Many Requests';

export function tooManyRequests(waitMs: number, hint: Behaviour['limitHint']): Answer {
  const sentence = `${(Math.max(1, waitMs) / 1_000).toFixed(3)}초 후 재시도해주세요.`;
  switch (hint) {
    case 'reason':
      return refusal(429, { message: MESSAGE, reason: sentence });
    case 'message':
      return refusal(429, { message: `${MESSAGE}: ${sentence}` });
    case 'list':
      return refusal(429, { message: MESSAGE, reason: [sentence] });
    case 'header':
      return jsonAnswer(429, failureBody({ message: MESSAGE }), { 'retry-after': String(Math.ceil(waitMs / 1_000)) });
    case 'none':
      return refusal(429, { message: MESSAGE });
    case 'empty':
      return emptyAnswer(429);
    case 'html':
      return htmlAnswer(429, `429 ${MESSAGE}`);
  }
}
