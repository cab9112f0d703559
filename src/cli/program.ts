/** The command line: what can be asked for, and how a failure is told. Parsing only; each command is a file of its own. */
import { readFileSync } from 'node:fs';
import { Command, CommanderError } from 'commander';
import { ROLES } from '../app/changefeed.js';
import { exitCodeOf } from '../errors.js';
import { LIST_NAMES } from '../events/lists.js';
import {
  aList,
  duration,
  eventPatterns,
  listName,
  listNameOrAll,
  fieldNames,
  logPlace,
  positiveNumber,
  rateLimit,
  recordCounts,
  someOf,
  theWord,
  wholeNumber,
} from './arguments.js';
import { dead, DEAD_ACTIONS } from './commands/dead.js';
import { demo } from './commands/demo.js';
import { forget } from './commands/forget.js';
import { replay } from './commands/replay.js';
import { acceptCreations, acceptRemovals, explain, resync, rulesTest, schema } from './commands/lists.js';
import { sandbox } from './commands/sandbox.js';
import { start } from './commands/start.js';
import { status } from './commands/status.js';
import { disable, enable } from './commands/switch.js';
import { sweep } from './commands/sweep.js';
import { tail } from './commands/tail.js';
import { todos } from './commands/todos.js';
import { verify } from './commands/verify.js';
import { webhookTest } from './commands/webhook.js';
import { errorText, usageText } from './failure.js';
import type { Io } from './io.js';

/** The same on every terminal, and in the pages that quote it. */
const HELP_WIDTH = 100;

/** A synthetic workspace lives in memory. */
const SIZE = { most: 1_000_000 };

/** Runs one command line. Resolves to the exit code: 0 done, 1 failed while running, 2 usage or configuration. */
export async function runCli(args: readonly string[], io: Io): Promise<number> {
  let code = 0;
  const program = buildProgram(io, (result) => (code = result));
  try {
    await program.parseAsync(args, { from: 'user' });
    return code;
  } catch (error) {
    if (error instanceof CommanderError) {
      if (error.exitCode === 0) return 0;
      // Without any command the help has been shown, which says more than a sentence.
      if (error.code !== 'commander.help') io.err(usageText(error));
      return 2;
    }
    io.err(errorText(error, io));
    return exitCodeOf(error);
  }
}

/** @param done gets the exit code of the command that ran */
export function buildProgram(io: Io, done: (code: number) => void): Command {
  const program = new Command('changefeed')
    .description("Turns a CRM's read-only list API into a reliable stream of change events.")
    .version(packageVersion())
    .option(
      '-c, --config <file>',
      'configuration file (default: changefeed.config.{ts,js,mjs,json}, or the environment)',
    )
    .helpCommand('help [command]', 'the same as --help')
    .configureHelp({ helpWidth: HELP_WIDTH })
    .configureOutput({
      writeOut: (text) => io.out(text.trimEnd()),
      writeErr: (text) => io.err(text.trimEnd()),
      // Told once, by `runCli`, in the form of every other failure.
      outputError: () => undefined,
    })
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
  addDeliveryCommands(command);
  addListCommands(command);
  addSandboxCommands(command);
  return program;
}

/** Commander hands over what it parsed untyped; each command says what it takes, and its options below say the same. */
type AddCommand = (name: string, what: string, run: (options: never, io: Io) => Promise<number>) => Command;

function addServiceCommands(command: AddCommand): void {
  command('start', 'run the service until it is told to stop', start).option(
    '--only <roles>',
    `only these roles: ${ROLES.join(',')}`,
    someOf('--only', ROLES),
  );
  command('sweep', 'one complete sweep of each list, its events handled, and a summary', sweep)
    .argument('[lists...]', `lists to sweep: ${LIST_NAMES.join(', ')} (default: all that are enabled)`, listName)
    .option('--workspace <name>', 'only this workspace')
    .option('--timeout <duration>', 'longest wait for the events to be handled (default: 5m)', duration('--timeout'))
    .option('--json', 'print the summary as one line of JSON on standard output');
}

function addLookingCommands(command: AddCommand): void {
  command('tail', 'follow the log of events', tail)
    .option('--json', 'one CloudEvent per line')
    .option('--from <place>', 'a log id, a time, "beginning" or "now" (default: now)', logPlace('--from'))
    .option('--type <patterns>', 'only these event types, separated by commas (* allowed)', eventPatterns('--type'))
    .option('--workspace <name>', 'only this workspace')
    .option('--no-follow', 'stop at the end of the log');
  command('status', 'what needs attention, lists, freshness, budget, queues, dead letters, processes', status)
    .option('--json', 'print it as JSON')
    .option('--check', 'exit with 1 when the feed does not poll, dispatch or handle as it should');
  command('todos', 'todos: open, due today, overdue, completed; in all, per person in charge, per team', todos)
    .option('--since <when>', 'begin of the period: a duration or a time (default: 30d)')
    .option('--workspace <name>', 'only this workspace')
    .option('--json', 'print it as JSON');
}

function addDeliveryCommands(command: AddCommand): void {
  command('dead', 'dead letters: events whose handling was given up', dead)
    .argument('<action>', DEAD_ACTIONS.join(', '))
    .argument('[ids...]', 'ids of events')
    .option('--all', 'retry or drop: all there are')
    .option('--subscription <name>', 'only those of this subscription')
    .option(
      '--limit <number>',
      'list: how many at most, newest first (default: 100)',
      wholeNumber('--limit', { least: 1 }),
    )
    .option('--json', 'list and show: one dead letter per line as JSON; retry and drop: the count');
  command('replay', 'send a stretch of the log to one subscription again', replay)
    .requiredOption('--subscription <name>', 'the subscription')
    .requiredOption('--from <place>', 'a log id, a time or "beginning"')
    .option('--to <id>', 'a log id, the last one (default: as far as the subscription has read)')
    .option('--workspace <name>', 'only this workspace')
    .option('--json', 'print the count as JSON');
  command('disable', 'deliver nothing more to a subscription until it is enabled', disable)
    .argument('<subscription>', 'its name')
    .option('--reason <text>', 'what the status shall say (default: by hand)')
    .option('--json', 'print the outcome as JSON');
  command('enable', 'have a disabled subscription go on where it stood', enable)
    .argument('<subscription>', 'its name')
    .option('--json', 'print the outcome as JSON');
  command('webhook', 'webhook test <subscription>: send one signed test event', webhookTest)
    .argument('<test>', 'the word "test"', theWord('test'))
    .argument('<subscription>', 'the name of a webhook')
    .option('--json', 'print what came of it as JSON');
}

/** What there is to ask and to decide about one list. */
function addListCommands(command: AddCommand): void {
  const workspace = ['--workspace <name>', 'which workspace, where there are several'] as const;
  const json = ['--json', 'print it as JSON'] as const;
  command('explain', 'why a record did or did not yield events', explain)
    .argument('<list>', 'its list', aList)
    .argument('<id>', 'its id')
    .option(...workspace)
    .option(...json);
  command('schema', 'the fields seen in each list, in which forms, on how many rows', schema)
    .argument('[lists...]', 'only these lists', listName)
    .option('--types', 'print TypeScript types')
    .option(...workspace)
    .option(...json);
  command('rules', 'rules test <list>: what other rules would have made of the events in the log', rulesTest)
    .argument('<test>', 'the word "test"', theWord('test'))
    .argument('<list>', 'the list', aList)
    .option('--ignore <fields>', 'field patterns, separated by commas', fieldNames)
    .option('--only <fields>', 'field patterns, separated by commas', fieldNames)
    .option('--refreshed <fields>', 'field patterns, separated by commas', fieldNames)
    .option(...workspace)
    .option(...json);
  command('accept-removals', 'let a held mass removal through', acceptRemovals)
    .argument('<list>', 'the list', aList)
    .option(...workspace);
  command('accept-creations', 'let held new records through', acceptCreations)
    .argument('<list>', 'the list', aList)
    .option(...workspace);
  command('resync', 'forget the baseline of lists: their next sweep is quiet', resync)
    .argument('<lists...>', 'the lists, or "all"', listNameOrAll)
    .option(...workspace);
  command('forget', 'remove everything that is kept of a workspace', forget)
    .argument('<workspace>', 'its name, whether the configuration still has it or not')
    .option('--yes', 'do not ask')
    .option(...json);
}

function addSandboxCommands(command: AddCommand): void {
  command('demo', 'a synthetic workspace, watched: needs no configuration', demo)
    .option('--seed <number>', 'which workspace', wholeNumber('--seed'), 1)
    .option('--people <number>', 'its size in people; the other lists follow', wholeNumber('--people', SIZE), 200)
    .option('--rate <number>', 'changes per second', positiveNumber('--rate'), 1);
  command('sandbox', 'serve the six endpoints from a synthetic workspace', sandbox)
    .option('--port <number>', 'port to listen on; 0 for any', wholeNumber('--port', { most: 65_535 }), 4010)
    .option('--host <host>', 'address to listen on', '127.0.0.1')
    .option('--token <token>', 'bearer token to ask for', 'sandbox')
    .option('--seed <number>', 'which workspace', wholeNumber('--seed'), 1)
    .option(
      '--people <number>',
      'people; lists that are not named follow (default: 1000)',
      wholeNumber('--people', SIZE),
    )
    .option('--organizations <number>', 'organizations', wholeNumber('--organizations', SIZE))
    .option('--memos <number>', 'memos', wholeNumber('--memos', SIZE))
    .option('--todos <number>', 'todos', wholeNumber('--todos', SIZE))
    .option('--history <number>', 'deal history entries', wholeNumber('--history', SIZE))
    .option('--activity <number>', 'people activity entries', wholeNumber('--activity', SIZE))
    .option(
      '--list <name=number>',
      'a further list: deal=500 serves v2/deal with the array dealList; repeatable',
      recordCounts('--list', SIZE),
    )
    .option('--rate <number>', 'changes per second; 0 is still', positiveNumber('--rate'), 1)
    .option('--limit <requests/duration>', 'rate limit, or "none" (default: 100/10s)', rateLimit('--limit'))
    .option('--latency <duration>', 'added to every answer (default: none)', duration('--latency'))
    .option(
      '--records <number>',
      'all lists together, in the default shares',
      wholeNumber('--records', { most: 10_000_000 }),
    )
    .option('--profile <name>', 'how it behaves; "list" names the profiles (default: calm)')
    .option(
      '--control <port>',
      'a control API on this port, to switch faults while it runs',
      wholeNumber('--control', { most: 65_535 }),
    )
    .option('--control-token <token>', 'what the control API asks for (default: control)')
    .option('--journal <file>', 'write the truth as NDJSON: every mutation');
  command('verify', 'the score of a stream of events against the truth of a sandbox', verify)
    .requiredOption('--journal <file>', 'the journal of the sandbox')
    .requiredOption('--events <file>', 'the events as NDJSON, as handlers got them')
    .option('--json', 'print it as JSON');
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
