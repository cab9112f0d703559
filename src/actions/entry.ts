/** Makes the entry of the audit for an action that was done. */
import type { z } from 'zod';
import { namesInPath, type Acting, type Action } from './define.js';

/** Null: nothing was decided. */
export function entryOf<Input extends z.ZodObject, Answer extends z.ZodType, Needs extends Acting>(
  action: Action<Input, Answer, Needs>,
  asked: object,
  answered: object,
): { what: string; count?: number } | null {
  const given = asked as Readonly<Record<string, unknown>>;
  if (given['dryRun'] === true) return null;
  if (action.audited !== undefined) {
    const facts = action.audited(answered as z.output<Answer>, given as z.output<Input>);
    return facts && { what: action.name, ...facts };
  }
  const named = Object.fromEntries<unknown>(namesInPath(action).map((name) => [name, given[name]]));
  const { count } = answered as { count?: number };
  return { what: action.name, ...named, ...(count !== undefined && { count }) };
}
