/** `exec`: runs a program for every event. */
import { accessSync, constants, statSync } from 'node:fs';
import { delimiter, join, resolve } from 'node:path';
import { z } from 'zod';
import { ChangefeedError, messageOf } from '../../errors.js';
import type { ChangeEvent } from '../../events/types.js';
import { systemClock, type Clock } from '../../runtime/clock.js';
import { formatDuration } from '../../runtime/duration.js';
import { Turns } from '../../runtime/turns.js';
import { duration, matching, strictOptions } from '../../schema-kit/fields.js';
import { secret } from '../../schema-kit/secret.js';
import { PermanentError } from '../errors.js';
import type { HandlerContext, Obstacle, Subscription } from '../handler.js';
import { defineKind } from '../kind.js';
import { LONGEST_WAIT, subscriptionShape, toSubscription } from '../options.js';
import { runCommand, type Ending } from './run.js';

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

/** `EX_DATAERR` of sysexits.h: the program rejects the event permanently. */
const NEVER = 65;
/**
 * Programs get events and not access to the CRM: of the variables of this process, which may hold secrets under any name, they get what a
 * program needs to start. The option `env` adds others.
 */
const INHERITED =
  /^(PATH|HOME|LANG|LANGUAGE|LC_\w+|TZ|TMPDIR|USER|LOGNAME|SHELL|TEMP|TMP|SYSTEMROOT|COMSPEC|PATHEXT|USERPROFILE)$/i;

/**
 * A subscription that runs a program for each event, with the event on standard input as one line of JSON and its id and type in
 * `CHANGEFEED_…` variables. Exit code 0 is success, 65 makes a dead letter at once, anything else is retried (75 is the
 * usual code). At the timeout and when the process stops, the program and its children get SIGTERM and later SIGKILL.
 * @throws ChangefeedError `CF_CONFIG_INVALID`; its deliveries fail with `CF_COMMAND_FAILED`
 */
export function exec(options: ExecOptions): Subscription {
  return execKind.inCode(options);
}

export const execKind = defineKind('exec', execSchema, (options) => createExec(options));

export function createExec(
  settings: ExecSettings,
  { clock = systemClock, env = process.env }: Partial<Omit<Runner, 'settings'>> = {},
): Subscription {
  const turns = new Turns();
  const stopping = new AbortController();
  return toSubscription(settings, {
    handler: 'exec',
    handle: (event, context) => {
      const signal = AbortSignal.any([context.signal, stopping.signal]);
      // After a timeout the program may still be ending: the next attempt must not overlap it.
      const key = settings.order === 'record' ? `${event.source} ${event.subject}` : event.id;
      return turns.take(key, () => runFor(event, { ...context, signal }, { settings, clock, env }));
    },
    close: () => {
      stopping.abort();
      return turns.over();
    },
    obstacle: () => programObstacle(settings, env),
  });
}

interface Runner {
  settings: ExecSettings;
  clock: Clock;
  env: NodeJS.ProcessEnv;
}

async function runFor(event: ChangeEvent, context: HandlerContext, runner: Runner): Promise<void> {
  const { settings, clock } = runner;
  const { signal, log } = context;
  const startedAt = clock.now();
  const ending = await start(event, context, runner);
  const facts = { code: ending.code, killedBy: ending.killedBy, ms: clock.now() - startedAt };
  log.debug({ ...facts, stdout: ending.stdout, stderr: ending.stderr }, 'program ended');
  // A program that was stopped may still have finished successfully.
  if (ending.code === 0) return;
  throw signal.aborted ? stopped(settings) : failure(ending, settings);
}

async function start(event: ChangeEvent, context: HandlerContext, { settings, clock, env }: Runner): Promise<Ending> {
  const { command, args, cwd } = settings;
  const inherited = Object.fromEntries(Object.entries(env).filter(([name]) => INHERITED.test(name)));
  if (context.signal.aborted) throw stopped(settings);
  try {
    return await runCommand({
      ...{ command, args, cwd, signal: context.signal, killAfterMs: settings.killAfter, clock },
      env: environmentOf(event, context, { ...inherited, ...settings.env }),
      input: `${JSON.stringify(event)}\n`,
    });
  } catch (error) {
    throw unstartable(error as NodeJS.ErrnoException, { settings, clock, env });
  }
}

/** The inherited variables, those of the option `env`, and what identifies the event. */
function environmentOf(
  event: ChangeEvent,
  { attempt, subscription, workspace }: HandlerContext,
  variables: NodeJS.ProcessEnv,
): NodeJS.ProcessEnv {
  return {
    ...variables,
    CHANGEFEED_EVENT_ID: event.id,
    CHANGEFEED_EVENT_TYPE: event.type,
    // An environment variable cannot contain NUL, and a program must not fail to start because of one.
    CHANGEFEED_EVENT_SUBJECT: event.subject.replaceAll('\0', ''),
    CHANGEFEED_WORKSPACE: workspace,
    CHANGEFEED_SUBSCRIPTION: subscription,
    CHANGEFEED_ATTEMPT: String(attempt),
  };
}

function unstartable(cause: NodeJS.ErrnoException, { settings, env }: Runner): Error {
  const start = `could not start ${JSON.stringify(settings.command)}`;
  // A retry cannot succeed while there is an obstacle.
  const obstacle = programObstacle(settings, env);
  if (obstacle === null) return failed(settings, `${start} (${cause.code ?? messageOf(cause)}). ${RETRIED}`, { cause });
  const { reason, remedy } = obstacle;
  return permanent(failed(settings, `${start}: ${reason}; ${remedy}; then retry the dead letters.`, { cause }));
}

function failure({ code: exitCode, killedBy, stderr }: Ending, settings: ExecSettings): Error {
  const how = exitCode === null ? `was ended by ${killedBy ?? 'a signal'}` : `exited with ${exitCode}`;
  const start = `${JSON.stringify(settings.command)} ${how}`;
  const said = stderr === '' ? '' : ` It said: ${stderr}`;
  if (exitCode !== NEVER) return failed(settings, `${start}. ${RETRIED}${said}`, { exitCode, killedBy });
  return permanent(failed(settings, `${start}: it rejected the event permanently.${said}`, { exitCode, killedBy }));
}

function stopped(settings: ExecSettings): ChangefeedError {
  const why = `by its timeout (${formatDuration(settings.timeout)}) or because this process stops`;
  return failed(settings, `${JSON.stringify(settings.command)} was stopped before it had finished, ${why}. ${RETRIED}`);
}

const RETRIED = 'The event is tried again.';

function failed({ name: subscription }: ExecSettings, problem: string, facts: object = {}): ChangefeedError {
  const message = `Exec "${subscription}": ${problem}`;
  return new ChangefeedError('CF_COMMAND_FAILED', { message, subscription, ...facts });
}

function permanent(error: ChangefeedError): PermanentError {
  return new PermanentError(error.message, { cause: error });
}

/** The same search as the system's: a name is looked for on `PATH`, a path begins at `cwd`. Null: it can be started. */
function programObstacle({ command, cwd = '.', env: added }: ExecSettings, env: NodeJS.ProcessEnv): Obstacle | null {
  if (statSync(cwd, { throwIfNoEntry: false })?.isDirectory() !== true)
    return { reason: `there is no folder ${JSON.stringify(cwd)}`, remedy: 'create it, or change cwd' };
  // Windows finds programs by further rules.
  if (process.platform === 'win32') return null;
  const name = JSON.stringify(command);
  const path = { ...env, ...added }['PATH'] ?? '';
  const candidates = command.includes('/')
    ? [resolve(cwd, command)]
    : path.split(delimiter).map((folder) => join(resolve(cwd, folder), command));
  const found = candidates.filter(isFile);
  if (found.some(isExecutable)) return null;
  if (found.length > 0)
    return { reason: `the program ${name} is not executable`, remedy: `make it executable: chmod +x ${found[0]}` };
  const where = command.includes('/') ? '' : ' on PATH';
  return { reason: `there is no program ${name}${where}`, remedy: 'install it, or set command to its full path' };
}

function isFile(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isFile() === true;
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
