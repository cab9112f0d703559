/** The options of `exec`. */
import { z } from 'zod';
import { duration, matching, strictOptions } from '../../schema-kit/fields.js';
import { secret } from '../../schema-kit/secret.js';
import { LONGEST_WAIT, subscriptionShape } from '../options.js';

// The operating system ends a text at its first NUL and would silently drop what follows.
const NO_NUL = /^[^\0]*$/;
const NO_NUL_NOT_EMPTY = /^[^\0]+$/;
const ARGUMENTS = 'an array of texts, one per argument';
const VARIABLES = 'an object of texts by name of variable (letters, digits and _)';

export const execSchema = strictOptions({
  ...subscriptionShape,
  /** The program: a path, or a name that is searched for on `PATH`. It does not run in a shell. */
  command: matching(
    NO_NUL_NOT_EMPTY,
    'the path or the name of a program (a shell line goes into a script, or into args of "sh")',
  ),
  /** The arguments of the program. @defaultValue none */
  args: secret(z.array(matching(NO_NUL, ARGUMENTS), { error: ARGUMENTS }))
    .readonly()
    .default([]),
  /** The folder it runs in. @defaultValue the working directory of this process */
  cwd: matching(NO_NUL_NOT_EMPTY, 'the path of a folder').optional(),
  /** Environment variables, in addition to `PATH`, `HOME`, `LANG` and the like (see handlers.md): no others are passed on. @defaultValue none */
  env: secret(z.record(matching(/^\w+$/, VARIABLES), matching(NO_NUL, VARIABLES), { error: VARIABLES }))
    .readonly()
    .default({}),
  /** How long a program may take to stop after SIGTERM before it is killed (SIGKILL). @defaultValue '5s' */
  killAfter: duration({ from: '0ms', to: LONGEST_WAIT }).prefault('5s'),
});

export type ExecOptions = z.input<typeof execSchema>;
export type ExecSettings = z.output<typeof execSchema>;
