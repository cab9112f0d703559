/** The options of `ndjson`. */
import { z } from 'zod';
import { strictOptions } from '../../schema-kit/fields.js';
import { subscriptionShape, type SubscriptionOptions } from '../options.js';

export interface NdjsonOptions extends SubscriptionOptions {
  /** The file to append to; its folder is made when missing. @defaultValue standard output */
  path?: string | undefined;
  /** Only with `path`, and for a single handling process: two would rotate under each other. @defaultValue never */
  rotate?: RotateOptions | undefined;
}

export interface RotateOptions {
  /** A file that would grow beyond this is put aside as `<path>.1`: `'100MB'`, `'1GB'`, `'512kB'` (1 kB is 1000 bytes). */
  size: string;
  /** How many files put aside are kept, 1 to 1000. @defaultValue 5 */
  keep?: number | undefined;
}

const A_SIZE = "a size in quotes such as '512kB', '100MB' or '1GB'";
const A_COUNT = 'a whole number from 1 to 1000';
const A_PATH = 'the path of a file; leave it out for standard output';
const UNIT_BYTES: Readonly<Record<string, number>> = { b: 1, kb: 1_000, mb: 1_000_000, gb: 1_000_000_000 };

const rotate = strictOptions({
  size: z.string({ error: A_SIZE }).transform((text, context) => {
    const bytes = parseSize(text);
    if (bytes !== undefined) return bytes;
    context.addIssue({ code: 'custom', message: A_SIZE });
    return z.NEVER;
  }),
  keep: z.int({ error: A_COUNT }).min(1, { error: A_COUNT }).max(1_000, { error: A_COUNT }).default(5),
});

const strict = strictOptions({
  ...subscriptionShape,
  path: z.string({ error: A_PATH }).min(1, { error: A_PATH }).optional(),
  rotate: rotate.optional(),
});

export const ndjsonSchema = strict.refine((options) => options.rotate === undefined || options.path !== undefined, {
  path: ['rotate'],
  error: 'rotate only together with path (standard output has nothing to rotate)',
}) satisfies z.ZodType<unknown, NdjsonOptions>;

export type NdjsonSettings = z.output<typeof ndjsonSchema>;

function parseSize(text: string): number | undefined {
  const [, amount, unit] = /^(\d+(?:\.\d+)?)\s*([kmg]?b)$/i.exec(text.trim()) ?? [];
  if (amount === undefined || unit === undefined) return undefined;
  const bytes = Math.round(Number(amount) * (UNIT_BYTES[unit.toLowerCase()] ?? Number.NaN));
  return bytes > 0 ? bytes : undefined;
}
