/** The options of `ndjson`. */
import { z } from 'zod';
import { strictOptions, text, wholeNumber } from '../../schema-kit/fields.js';
import { subscriptionShape } from '../options.js';

const A_SIZE = "a size in quotes such as '512kB', '100MB' or '1GB'";
const UNIT_BYTES: Readonly<Record<string, number>> = { b: 1, kb: 1_000, mb: 1_000_000, gb: 1_000_000_000 };

const size = z.string({ error: A_SIZE }).transform((given, context) => {
  const bytes = parseSize(given);
  if (bytes !== undefined) return bytes;
  context.addIssue({ code: 'custom', message: A_SIZE });
  return z.NEVER;
});

const rotateOptions = strictOptions({
  /** Before a file grows beyond this size, it is renamed to `<path>.1`: `'512kB'`, `'100MB'`, `'1GB'` (1 kB is 1000 bytes). */
  size,
  /** Number of renamed files that are kept. @defaultValue 5 */
  keep: wholeNumber(1, 1_000).default(5),
});

const ndjsonOptions = strictOptions({
  ...subscriptionShape,
  /** The file to append to. Its folder is created if it does not exist. @defaultValue standard output */
  path: text('the path of a file; leave it out for standard output').optional(),
  /** Rotates the file. Needs `path`, and only one process that runs the handler: two would rotate the same file. @defaultValue never */
  rotate: rotateOptions.optional(),
});

export const ndjsonSchema = ndjsonOptions.refine(({ rotate, path }) => rotate === undefined || path !== undefined, {
  path: ['rotate'],
  error: 'rotate only together with path (standard output has nothing to rotate)',
});

export type NdjsonOptions = z.input<typeof ndjsonSchema>;
export type NdjsonSettings = z.output<typeof ndjsonSchema>;

function parseSize(given: string): number | undefined {
  const [, amount, unit] = /^(\d+(?:\.\d+)?)\s*([kmg]?b)$/i.exec(given.trim()) ?? [];
  if (amount === undefined || unit === undefined) return undefined;
  const bytes = Math.round(Number(amount) * (UNIT_BYTES[unit.toLowerCase()] ?? Number.NaN));
  return bytes > 0 ? bytes : undefined;
}
