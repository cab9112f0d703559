/** `exec`: runs a program for every event. */
import { stat } from 'node:fs/promises';
import { ChangefeedError, messageOf } from '../../errors.js';
import type { ChangeEvent } from '../../events/types.js';
import { systemClock, type Clock } from '../../runtime/clock.js';
import { formatDuration } from '../../runtime/duration.js';
import { Turns } from '../../runtime/turns.js';
import { PermanentError } from '../errors.js';
import type { HandlerContext, Subscription } from '../handler.js';
import { defineKind } from '../kind.js';
import { toSubscription } from '../options.js';
import { execSchema, type ExecOptions, type ExecSettings } from './options.js';
import { programObstacle } from './program.js';
import { runCommand, type Ending } from './run.js';

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

export interface ExecWorld {
  clock: Clock;
  env: NodeJS.ProcessEnv;
}

export function createExec(
  settings: ExecSettings,
  { clock = systemClock, env = process.env }: Partial<ExecWorld> = {},
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
    return await runCommand(
      {
        command,
        args,
        cwd,
        env: environmentOf(event, context, { ...inherited, ...settings.env }),
        input: `${JSON.stringify(event)}\n`,
      },
      { signal: context.signal, killAfterMs: settings.killAfter, clock },
    );
  } catch (error) {
    throw await unstartable(error as NodeJS.ErrnoException, settings);
  }
}

/** The inherited variables, those of the option `env`, and what identifies the event. */
function environmentOf(
  event: ChangeEvent,
  { attempt, subscription, workspace, traceparent }: HandlerContext,
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
    // The name that OpenTelemetry gives to the trace context in the environment of a program.
    ...(traceparent !== undefined && { TRACEPARENT: traceparent }),
  };
}

async function unstartable(error: NodeJS.ErrnoException, { name, command, cwd }: ExecSettings): Promise<Error> {
  const start = `Exec "${name}": could not start ${JSON.stringify(command)}`;
  const failed = (message: string): ChangefeedError =>
    new ChangefeedError('CF_COMMAND_FAILED', { message, subscription: name, cause: error });
  const reason = await permanentReason(error.code, cwd);
  if (reason === undefined) return failed(`${start} (${error.code ?? messageOf(error)}). The event is tried again.`);
  const message = `${start}: ${reason}; then retry the dead letters.`;
  return new PermanentError(message, { cause: failed(message) });
}

/** The reason if a retry cannot succeed. */
async function permanentReason(code: string | undefined, cwd: string | undefined): Promise<string | undefined> {
  // The system reports a missing program and a missing working folder with the same code.
  if (['ENOENT', 'ENOTDIR', 'EACCES'].includes(code ?? '') && cwd !== undefined && !(await isFolder(cwd)))
    return `the folder ${JSON.stringify(cwd)} does not exist. Create it or change cwd`;
  switch (code) {
    case 'ENOENT':
    case 'ENOTDIR':
      return 'the program does not exist. Install it or use its full path';
    case 'EACCES':
    case 'EPERM':
      return 'it is not executable. Make it executable (chmod +x) for the user of this process';
    case 'ENOEXEC':
      return 'it is not a program. A script must begin with #! and its interpreter';
    default:
      return undefined;
  }
}

async function isFolder(path: string): Promise<boolean> {
  return stat(path).then(
    (found) => found.isDirectory(),
    () => false,
  );
}

function failure({ code, killedBy, stderr }: Ending, { name, command }: ExecSettings): Error {
  const how = code === null ? `was ended by ${killedBy ?? 'a signal'}` : `exited with ${code}`;
  const start = `Exec "${name}": ${JSON.stringify(command)} ${how}`;
  const said = stderr === '' ? '' : ` It said: ${stderr}`;
  const failed = (message: string): ChangefeedError =>
    new ChangefeedError('CF_COMMAND_FAILED', { message, subscription: name, exitCode: code, killedBy });
  if (code !== NEVER) return failed(`${start}. The event is tried again.${said}`);
  const message = `${start}: it rejected the event permanently.${said}`;
  return new PermanentError(message, { cause: failed(message) });
}

function stopped({ name, command, timeout }: ExecSettings): ChangefeedError {
  return new ChangefeedError('CF_COMMAND_FAILED', {
    message: `Exec "${name}": ${JSON.stringify(command)} was stopped before it had finished, by its timeout (${formatDuration(timeout)}) or because this process stops. The event is tried again.`,
    subscription: name,
  });
}
