/** The building blocks of all schemas. The error text of each says what is allowed. */
import { z } from 'zod';
import { DURATION, parseDuration, type Duration } from '../duration.js';
import { readTime } from '../iso-time.js';
import { didYouMean } from './did-you-mean.js';

/** Names of options in other products, and ours. */
const ELSEWHERE: Readonly<Record<string, string>> = {
  ...{ events: 'on', eventTypes: 'on', types: 'on', topics: 'on', filter: 'where', endpoint: 'url' },
  ...{ retries: 'retry.attempts', maxRetries: 'retry.attempts', attempts: 'retry.attempts', backoff: 'retry.delay' },
  ...{ debounce: 'settle', throttle: 'rate', rateLimit: 'rate', signingSecret: 'secret' },
};

/** An object with exactly these options. An unknown option is an error that suggests the nearest known one. */
export function strictOptions<Shape extends z.core.$ZodLooseShape>(
  shape: Shape,
  { orAlone }: { orAlone?: string } = {},
): z.ZodObject<Shape, z.core.$strict> {
  const names = Object.keys(shape);
  const allowed = names.join(', ');
  const meant = (key: string): string => {
    const ours = new Map(Object.entries(ELSEWHERE)).get(key) ?? '';
    return names.includes(ours.split('.')[0] ?? '') ? ` (here it is "${ours}")` : didYouMean(key, names);
  };
  return z.strictObject(shape, {
    error: (issue) => {
      if (issue.code !== 'unrecognized_keys')
        return orAlone === undefined ? `an object with ${allowed}` : `${orAlone}, or { ${allowed} }`;
      // A line for each: `problemsOf` makes a problem of each.
      return issue.keys.map((key) => `there is no such option${meant(key)}; allowed: ${allowed}`).join('\n');
    },
  });
}

export const A_DURATION = `a duration in quotes with its unit, such as '250ms', '30s', '15m', '12h' or '7d'`;

/** A text such as `'30s'`, read as milliseconds. The bounds are texts of the same form. */
export function duration({ from, to }: { from: Duration; to: Duration }): z.ZodType<number, Duration> {
  const [leastMs = 0, mostMs = 0] = [parseDuration(from), parseDuration(to)];
  const error = `${A_DURATION}, from '${from}' to '${to}'`;
  // For editors; what is checked says more.
  const written = z.string({ error }).meta({ pattern: DURATION.source });
  return written.transform((text, context) => {
    const ms = parseDuration(text);
    if (ms !== undefined && ms >= leastMs && ms <= mostMs) return ms;
    context.addIssue({ code: 'custom', message: error });
    return z.NEVER;
    // The type of the input is narrower than what is checked first: the compiler then sees a missing unit.
  }) as unknown as z.ZodType<number, Duration>;
}

export function wholeNumber(least: number, most: number): z.ZodNumber {
  const error = `a whole number from ${least} to ${most}`;
  return z.int({ error }).min(least, { error }).max(most, { error });
}

const A_SHARE = 'a number from 0 to 1';
export const share = z.number({ error: A_SHARE }).min(0, { error: A_SHARE }).max(1, { error: A_SHARE });

export const yesOrNo = z.boolean({ error: 'true or false' });

export function matching(pattern: RegExp, error: string): z.ZodString {
  return z.string({ error }).regex(pattern, { error });
}

export function text(error: string): z.ZodString {
  return z.string({ error }).min(1, { error });
}

export function listOf<Item extends z.ZodType>(item: Item, nouns: string): z.ZodReadonly<z.ZodArray<Item>> {
  const error = `an array of one or more ${nouns}`;
  return z.array(item, { error }).min(1, { error }).readonly();
}

export function oneOf<const Words extends readonly string[]>(
  ...words: Words
): z.ZodEnum<z.core.util.ToEnum<Words[number]>> {
  const quoted = words.map((word) => `'${word}'`);
  return z.enum(words, { error: new Intl.ListFormat('en', { type: 'disjunction' }).format(quoted) });
}

export function checked(allowed: string, faultOf: (text: string) => string | undefined): z.ZodType<string, string> {
  return z.string({ error: allowed }).superRefine((given, context) => {
    const fault = faultOf(given);
    if (fault !== undefined) context.addIssue({ code: 'custom', message: `${allowed} (${fault})` });
  });
}

/** Part of Redis keys and queue names: letters that have a meaning there are not allowed. */
export const NAME = /^[\w.-]{1,64}$/;
export const name = matching(NAME, "letters, digits, '-', '_' and '.', 1 to 64 characters");

export const DEFAULT_TIME_ZONE = 'Asia/Seoul';
export const timeZone = checked(`the IANA name of a time zone, such as '${DEFAULT_TIME_ZONE}' or 'UTC'`, (zone) => {
  try {
    new Intl.DateTimeFormat('en', { timeZone: zone });
    return undefined;
  } catch {
    return 'this machine does not know it';
  }
});

export const time = checked('a time such as 2026-03-01T00:00:00Z', (given) =>
  readTime(given, 'UTC') === null ? 'this is not a time' : undefined,
);
