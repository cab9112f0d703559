/** The command line: what can be asked for, and how a failure is told. Parsing only; each command is a file of its own. */
import { readFileSync } from 'node:fs';
import { Command, CommanderError, InvalidArgumentError } from 'commander';
import { ChangefeedError, exitCodeOf, messageOf } from '../errors.js';
import { LIST_NAMES, parseListName, type ListName } from '../events/lists.js';
import { parseDuration } from '../runtime/duration.js';
import { demo } from './commands/demo.js';
import { sandbox } from './commands/sandbox.js';
import { start } from './commands/start.js';
import { status } from './commands/status.js';
import { sweep } from './commands/sweep.js';
import { tail } from './commands/tail.js';
import type { Io } from './io.js';

/** Runs one command line. Resolves to the exit code: 0 done, 1 failed while running, 2 usage or configuration. */
export async function runCli(args: readonly string[], io: Io): Promise<number> {
  let code = 0;
  const program = buildProgram(io, (result) => (code = result));
  try {
    await program.parseAsync(args, { from: 'user' });
    return code;
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2;
    io.err(errorText(error, io));
    return exitCodeOf(error);
  }
}

function errorText(error: unknown, { env }: Io): string {
  const code = error instanceof ChangefeedError ? ` [${error.code}]` : '';
  const stack = env['LOG_LEVEL'] === 'debug' && error instanceof Error ? `\n${error.stack ?? ''}` : '';
  return `changefeed: ${messageOf(error)}${code}${stack}`;
}

function buildProgram(io: Io, done: (code: number) => void): Command {
  const program = new Command('changefeed')
    .description("Turns a CRM's read-only list API into a reliable stream of change events.")
    .version(packageVersion())
    .option(
      '-c, --config <file>',
      'configuration file (default: changefeed.config.{ts,js,mjs,json}, or the environment)',
    )
    .configureOutput({ writeOut: (text) => io.out(text.trimEnd()), writeErr: (text) => io.err(text.trimEnd()) })
    .showHelpAfterError('(changefeed --help lists the commands)')
    .exitOverride();
  const command: AddCommand = (name, what, run) =>
    program
      .command(name)
      .description(what)
      .action(async (...given: unknown[]) => {
        const self = given.at(-1) as Command;
        const options: Record<string, unknown> = self.optsWithGlobals();
        done(await run({ ...options, args: given.slice(0, -2).flat() } as never, io));
      });
  addServiceCommands(command);
  addLookingCommands(command);
  addSandboxCommands(command);
  return program;
}

/** Commander hands over what it parsed untyped; each command says what it takes, and its options below say the same. */
type AddCommand = (name: string, what: string, run: (options: never, io: Io) => Promise<number>) => Command;

function addServiceCommands(command: AddCommand): void {
  command('start', 'run the service', start).option(
    '--only <roles>',
    'only these roles: poll, dispatch, handle',
    separated,
  );
  command('sweep', 'one complete sweep of each list, its events handled, and a summary', sweep)
    .argument('[lists...]', `lists to sweep (${LIST_NAMES.join(', ')}); all enabled ones when none is named`, listNames)
    .option('--workspace <name>', 'only this workspace')
    .option('--timeout <duration>', 'longest wait for the events to be handled', duration, 300_000)
    .option('--json', 'print the summary as JSON');
}

function addLookingCommands(command: AddCommand): void {
  command('tail', 'follow the log of events', tail)
    .option('--json', 'one CloudEvent per line')
    .option('--from <place>', 'a log id, a time, or "beginning" (default: now)')
    .option('--type <patterns>', 'only these event types (* allowed)', separated)
    .option('--workspace <name>', 'only this workspace')
    .option('--no-follow', 'stop at the end of the log');
  command('status', 'lists, freshness, budget, queues, dead letters', status).option('--json', 'print it as JSON');
}

function addSandboxCommands(command: AddCommand): void {
  command('demo', 'a synthetic workspace, watched: needs no configuration', demo)
    .option('--seed <number>', 'which workspace', wholeNumber, 1)
    .option('--people <number>', 'its size in people; the other lists follow', wholeNumber, 200)
    .option('--rate <number>', 'changes per second', positiveNumber, 1);
  command('sandbox', 'serve the six endpoints from a synthetic workspace', sandbox)
    .option('--port <number>', 'port to listen on', wholeNumber, 4010)
    .option('--token <token>', 'bearer token to ask for', 'sandbox')
    .option('--seed <number>', 'which workspace', wholeNumber, 1)
    .option('--people <number>', 'people', wholeNumber, 1_000)
    .option('--organizations <number>', 'organizations', wholeNumber)
    .option('--memos <number>', 'memos', wholeNumber)
    .option('--todos <number>', 'todos', wholeNumber)
    .option('--history <number>', 'deal history entries', wholeNumber)
    .option('--activity <number>', 'people activity entries', wholeNumber)
    .option('--rate <number>', 'changes per second; 0 is still', positiveNumber, 1)
    .option('--limit <requests/duration>', 'rate limit, or "none"', '100/10s')
    .option('--host <host>', 'address to listen on', '127.0.0.1')
    .option('--journal <file>', 'write the truth as NDJSON: every mutation')
    .option('--latency <duration>', 'added to every answer', duration, 0);
}

function listNames(text: string, before: ListName[] = []): ListName[] {
  const list = parseListName(text);
  if (list === undefined)
    throw new InvalidArgumentError(`"${text}" is no list. The lists are ${LIST_NAMES.join(', ')}.`);
  return [...before, list];
}

function separated(text: string): string[] {
  return text.split(',').map((part) => part.trim());
}

function wholeNumber(text: string): number {
  if (!/^\d{1,9}$/.test(text)) throw new InvalidArgumentError('A whole number is wanted.');
  return Number(text);
}

function positiveNumber(text: string): number {
  const value = Number(text);
  if (text.trim() === '' || !Number.isFinite(value) || value < 0) {
    throw new InvalidArgumentError('A number of 0 or more is wanted.');
  }
  return value;
}

function duration(text: string): number {
  const ms = parseDuration(text);
  if (ms === undefined) throw new InvalidArgumentError('A duration such as 30s, 15m or 200ms is wanted.');
  return ms;
}

function packageVersion(): string {
  // Beside src/ in a checkout, beside dist/ in the package.
  const places = ['../../package.json', '../../../package.json'].map((path) => new URL(path, import.meta.url));
  for (const place of places) {
    try {
      return (JSON.parse(readFileSync(place, 'utf8')) as { version: string }).version;
    } catch {
      continue;
    }
  }
  return 'unknown';
}
