/** How often one endpoint is sent something, by all processes together. */
import type { z } from 'zod';
import { strictOptions, wholeNumber } from '../../schema-kit/fields.js';
import type { Rate } from '../handler.js';

export interface RateOptions {
  /** Requests allowed in every `perSeconds`, 1 to 10000; evenly spread over them, not at once. */
  requests: number;
  /** 1 to 3600. @defaultValue 1 */
  perSeconds?: number | undefined;
}

export const rateSchema = strictOptions({
  requests: wholeNumber(1, 10_000),
  perSeconds: wholeNumber(1, 3_600).default(1),
}) satisfies z.ZodType<Rate, RateOptions>;
