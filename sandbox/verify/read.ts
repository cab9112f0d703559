/** Reads journals and streams of events from NDJSON. An error names the number of the wrong line. */
import { z } from 'zod';
import { ChangefeedError, usage } from '../../src/kit/errors.js';
import { imageSchema, journalLine, type JournalLine, type MutationLine } from '../journal/lines.js';

const actor = z.object({ type: z.string(), id: z.string().nullable().default(null) });

/** The parts of an event that scoring needs. Log entries and webhook bodies have them. */
const event = z.object({
  id: z.string(),
  type: z.string().describe('`crm.<object>.<verb>`'),
  subject: z.string(),
  source: z.string().optional(),
  data: z.object({
    before: imageSchema.default(null),
    after: imageSchema.default(null),
    sequence: z.number(),
    observedAt: z.string(),
    actor: actor.optional().describe('who made the whole change'),
    changes: z
      .array(z.object({ field: z.string(), actor: actor.optional() }))
      .readonly()
      .optional(),
  }),
});
export type JudgedEvent = Readonly<z.output<typeof event>>;

// A line can also be the output of `tail --json`.
const eventLine = z.union([event, z.looseObject({ event }).transform((line) => line.event)]);

/** @throws ChangefeedError CF_USAGE with the number of the first invalid line */
export function parseJournal(text: string): JournalLine[] {
  return linesOf(text, 'journal').map(({ value, number }) => checked(journalLine, value, number, 'journal'));
}

/** One event per line; a line may also be a logged event. @throws ChangefeedError CF_USAGE */
export function parseEvents(text: string): JudgedEvent[] {
  return linesOf(text, 'stream of events').map(({ value, number }) =>
    checked(eventLine, value, number, 'stream of events'),
  );
}

function linesOf(text: string, what: string): { value: unknown; number: number }[] {
  const lines = text.split('\n');
  return lines.flatMap((line, nth) => {
    if (line.trim() === '') return [];
    try {
      return [{ value: JSON.parse(line) as unknown, number: nth + 1 }];
    } catch (cause) {
      // A file that is still being written may end in half a line. The lines before it are complete.
      if (nth === lines.length - 1) return [];
      throw usage(`Line ${nth + 1} of the ${what} is not JSON.`, cause);
    }
  });
}

function checked<T>(schema: z.ZodType<T>, value: unknown, line: number, what: string): T {
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  const where = result.error.issues[0]?.path.join('.') ?? '';
  const message = `Line ${line} of the ${what} has an unexpected form${where === '' ? '' : ` at "${where}"`}.`;
  throw new ChangefeedError('CF_USAGE', { message, line });
}

/** The mutations, with `visibleAt` filled in from the `visible` lines that follow them. */
export function withVisibility(lines: readonly JournalLine[]): MutationLine[] {
  const seen = new Map<string, string>();
  for (const line of lines) if (line.line === 'visible') seen.set(keyOf(line), line.at);
  return lines.flatMap((line) => {
    if (line.line !== 'mutation') return [];
    return [{ ...line, visibleAt: line.visibleAt ?? seen.get(keyOf(line)) ?? null }];
  });
}

function keyOf({ mutation, list: of, id }: { mutation: number; list: string; id: string }): string {
  return `${mutation} ${of} ${id}`;
}
