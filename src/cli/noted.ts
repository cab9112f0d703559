/** The entry of the audit for what a command has done. */
import type { z } from 'zod';
import type { Acting, Action } from '../actions/define.js';
import { entryOf } from '../actions/entry.js';
import type { Audit } from '../ops/audit.js';

export type Noted = ReturnType<typeof notedBy>;

export function notedBy(who: { by: string; how: string; address: string }, audit: Audit) {
  return async <Input extends z.ZodObject, Answer extends z.ZodType>(
    action: Action<Input, Answer, Acting>,
    input: object,
    answered: object,
  ): Promise<void> => {
    const entry = entryOf(action, input, answered);
    if (entry !== null) await audit.decided({ ...who, ...entry });
  };
}
