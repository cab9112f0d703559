/** The options of digests and reports: when a subscription gets one message about many events. */
import { z } from 'zod';
import { duration, listOf, matching, oneOf, strictOptions } from '../../kit/schema/fields.js';
import type { Schedule } from './handler.js';

const DAYS = ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'] as const;
const SOME_DAYS = { daily: [1, 2, 3, 4, 5, 6, 7], 'mon-fri': [1, 2, 3, 4, 5] } as const;
const A_DAY = `'daily', 'mon-fri', or an array of ${DAYS.join(', ')}`;

export const timeOfDay = matching(/^([01]\d|2[0-3]):[0-5]\d$/, "a time of day in quotes, such as '09:00'");

export const days = z
  .union([z.literal(['daily', 'mon-fri']), listOf(oneOf(...DAYS), 'days')], { error: A_DAY })
  .transform((given): readonly number[] =>
    typeof given === 'string' ? SOME_DAYS[given] : given.map((day) => DAYS.indexOf(day) + 1),
  );

const quietHours = strictOptions({ from: timeOfDay, to: timeOfDay }).refine(({ from, to }) => from !== to, {
  error: 'two different times of day',
});

export const digestOptions = strictOptions({
  /** A digest this often, counted from midnight, of all events since the last one; none where there were none. @defaultValue none: `at` is given */
  every: duration({ from: '1m', to: '24h' }).optional(),
  /** A digest at this time of day. @defaultValue none: `every` is given */
  at: timeOfDay.optional(),
  /** On these days: `'daily'`, `'mon-fri'`, or an array such as `['mon', 'thu']`. @defaultValue 'daily' */
  days: days.prefault('daily'),
  /** With `every`: between these times of day nothing is sent; a digest waits until `to`. @defaultValue none */
  quietHours: quietHours.optional(),
})
  .check(({ value: { every, at, quietHours: quiet }, issues }) => {
    const refuse = (message: string, path: string[] = []): void =>
      void issues.push({ code: 'custom', input: every, path, message });
    if ((every === undefined) === (at === undefined)) refuse("an object with one of every ('1h') and at ('09:00')");
    else if (quiet !== undefined && at !== undefined)
      refuse('only with every: a digest with at is sent at that time', ['quietHours']);
  })
  .transform(({ every, at = '', days: on, quietHours: quiet }): Schedule => ({
    when: every === undefined ? { at } : { everyMs: every },
    days: on,
    quiet,
  }));

type DigestInput = z.input<typeof digestOptions>;

/** `digest: false` says that there is none, where another destination or handler has one. */
export const digestOrNone = z.preprocess(
  (given: DigestInput | false | undefined) => (given === false ? undefined : given),
  digestOptions.optional(),
);

/** Options of the handlers that can send digests. */
export const digestShape = {
  /**
   * One message about all events since the last one: `{ every: '1h' }`, or `{ at: '09:00', days: 'mon-fri' }` in the workspace's time
   * zone. The events wait in the log, not in the queue. `false`: each event is handled by itself. @defaultValue false; email `{ at: '09:00' }`
   */
  digest: digestOrNone.optional(),
};

export type DigestOptions = z.input<z.ZodObject<typeof digestShape>>;
