/** How often one endpoint is sent something. Pure: the time is an argument. */
import type { z } from 'zod';
import { strictOptions } from '../explain.js';
import { wholeNumber } from '../options.js';

export interface RateOptions {
  /** Requests allowed in every `perSeconds`, 1 to 10000; evenly spread over them, not at once. */
  requests: number;
  /** 1 to 3600. @defaultValue 1 */
  perSeconds?: number | undefined;
}

export const rateSchema = strictOptions({
  requests: wholeNumber(1, 10_000),
  perSeconds: wholeNumber(1, 3_600).default(1),
}) satisfies z.ZodType<unknown, RateOptions>;

export type Rate = z.output<typeof rateSchema>;

/** Between two requests, in ms. */
export function intervalMsOf({ requests, perSeconds }: Rate): number {
  return (perSeconds * 1_000) / requests;
}

export class Pacer {
  readonly #intervalMs: number;
  #nextAt = 0;

  constructor(rate: Rate | undefined) {
    this.#intervalMs = rate === undefined ? 0 : intervalMsOf(rate);
  }

  /** Takes the next place, and says how long it is until then, in ms. */
  take(now: number): number {
    const at = Math.max(now, this.#nextAt);
    this.#nextAt = at + this.#intervalMs;
    return at - now;
  }
}
