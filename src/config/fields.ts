/** The small words of the schema. Each carries as its error what is allowed; `issues.ts` adds where and what was found. */
import { z } from 'zod';
import { parseDuration } from '../runtime/duration.js';

// Ten years: an age, not a timer; anything longer is a slip of the keyboard.
const LONGEST_MS = 3_650 * 86_400_000;
const A_DURATION = `a duration in quotes with its unit, such as '30s', '15m', '12h' or '7d'`;

/** A duration text, read as ms. */
export function duration({ least }: { least: string }): z.ZodType<number, string> {
  const leastMs = parseDuration(least) ?? 0;
  const error = `${A_DURATION}, from '${least}' to '3650d'`;
  return z.string({ error }).transform((text, context) => {
    const ms = parseDuration(text);
    if (ms !== undefined && ms >= leastMs && ms <= LONGEST_MS) return ms;
    context.addIssue({ code: 'custom', message: error });
    return z.NEVER;
  });
}

export function wholeNumber(least: number, most: number): z.ZodNumber {
  const error = `a whole number from ${least} to ${most}`;
  return z.int({ error }).min(least, { error }).max(most, { error });
}

export function matching(pattern: RegExp, allowed: string): z.ZodString {
  return z.string({ error: allowed }).regex(pattern, { error: allowed });
}

export const yesOrNo = z.boolean({ error: 'true or false' });

export const fieldPatterns = z.array(
  z.string({ error: 'a field name, or a pattern with *' }).min(1, { error: 'a field name, or a pattern with *' }),
  { error: 'an array of field names or patterns with *' },
);

/** Checked by a function that answers with the complaint, or undefined when all is well. */
export function checked(allowed: string, fault: (text: string) => string | undefined): z.ZodType<string, string> {
  return z.string({ error: allowed }).superRefine((text, context) => {
    const complaint = fault(text);
    if (complaint !== undefined) context.addIssue({ code: 'custom', message: `${allowed} (${complaint})` });
  });
}
