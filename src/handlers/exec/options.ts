/** The options of `exec`. */
import { z } from 'zod';
import { duration, strictOptions } from '../../schema-kit/fields.js';
import { LONGEST_WAIT, subscriptionShape, type SubscriptionOptions } from '../options.js';

export interface ExecOptions extends SubscriptionOptions {
  /** The program: a path, or a name that is looked up on `PATH`. No shell reads it. */
  command: string;
  /** What it is called with, word by word. @defaultValue none */
  args?: readonly string[] | undefined;
  /** The folder it runs in. @defaultValue that of this process */
  cwd?: string | undefined;
  /**
   * Added to the environment, which is this process's own without `CHANGEFEED_TOKEN`. @defaultValue none
   */
  env?: Readonly<Record<string, string>> | undefined;
  /** How long a program that is told to stop (SIGTERM) may take before it is killed (SIGKILL). @defaultValue '5s' */
  killAfter?: string | undefined;
}

const A_COMMAND = 'the path or the name of a program (a shell line goes into a script, or into args of "sh")';
const WORDS = 'an array of texts, one per argument';
const A_FOLDER = 'the path of a folder';
const VARIABLES = 'an object of texts by name of variable (letters, digits and _)';

// The system ends a text at its first NUL: what stands behind it would silently be lost.
const NO_NUL = /^[^\0]*$/;
const plain = (error: string): z.ZodString => z.string({ error }).regex(NO_NUL, { error });

export const execSchema = strictOptions({
  ...subscriptionShape,
  command: plain(A_COMMAND).min(1, { error: A_COMMAND }),
  args: z.array(plain(WORDS), { error: WORDS }).default([]),
  cwd: plain(A_FOLDER).min(1, { error: A_FOLDER }).optional(),
  env: z.record(z.string().regex(/^\w+$/, { error: VARIABLES }), plain(VARIABLES), { error: VARIABLES }).default({}),
  killAfter: duration({ from: '0ms', to: LONGEST_WAIT }).default(5_000),
}) satisfies z.ZodType<unknown, ExecOptions>;

export type ExecSettings = z.output<typeof execSchema>;
