/** Checks an event against the schema of its type. */
import type { z } from 'zod';
import { DATA_OF_VERB, dataOfNotice, eventSchema, type ChangeEvent } from '../../src/events/types.js';

/** By the name that the documents give them: a verb, `changefeed` or `problem.over`. */
export const DATA_SCHEMAS: Readonly<Record<string, z.ZodType>> = {
  ...DATA_OF_VERB,
  changefeed: dataOfNotice('state.lost'),
  'problem.over': dataOfNotice('problem.over'),
};

export function dataNameOf(type: string): string {
  if (!type.startsWith('changefeed.')) return type.slice(type.lastIndexOf('.') + 1);
  return type === 'changefeed.problem.over' ? 'problem.over' : 'changefeed';
}

export function problemsOf(event: ChangeEvent): string[] {
  const data = DATA_SCHEMAS[dataNameOf(event.type)];
  if (data === undefined) return [`${event.type}: no such type`];
  return [eventSchema.safeParse(event), data.safeParse(event.data)].flatMap(({ error }) =>
    (error?.issues ?? []).map(({ path, message }) => `${event.type}: ${path.join('.')} ${message}`),
  );
}
