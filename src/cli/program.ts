/** The command line: the program with all its commands, and how a failure is reported. */
import { readFileSync } from 'node:fs';
import { Command, CommanderError } from 'commander';
import { ChangefeedError, exitCodeOf, messageOf } from '../errors.js';
import { acceptCreations, acceptRemovals } from './commands/accept.js';
import { dead } from './commands/dead.js';
import { demo } from './commands/demo.js';
import { disable } from './commands/disable.js';
import { enable } from './commands/enable.js';
import { explain } from './commands/explain.js';
import { forget } from './commands/forget.js';
import { probe } from './commands/probe.js';
import { replay } from './commands/replay.js';
import { resync } from './commands/resync.js';
import { rules } from './commands/rules.js';
import { sandbox } from './commands/sandbox.js';
import { schema } from './commands/schema.js';
import { start } from './commands/start.js';
import { status } from './commands/status.js';
import { sweep } from './commands/sweep.js';
import { tail } from './commands/tail.js';
import { todos } from './commands/todos.js';
import { verify } from './commands/verify.js';
import { webhook } from './commands/webhook.js';
import type { Io } from './io.js';

/** In the order of `--help`: the service, reading, deliveries, decisions about lists, the sandbox. */
const COMMANDS = [
  ...[start, sweep],
  ...[tail, status, todos],
  ...[dead, replay, disable, enable, webhook],
  ...[probe, explain, schema, rules, acceptRemovals, acceptCreations, resync, forget],
  ...[demo, sandbox, verify],
];

/** The same width on every terminal, because docs/cli.md quotes the help. */
const HELP_WIDTH = 100;

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
      // Without a command, the help has been shown already.
      if (error.code !== 'commander.help') io.err(usageText(error));
      return 2;
    }
    io.err(errorText(error, io));
    return exitCodeOf(error);
  }
}

/** @param done receives the exit code of the command that ran */
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
      // `runCli` prints errors, in one form for all.
      outputError: () => undefined,
    })
    .exitOverride();
  for (const add of COMMANDS) add(program, io, done);
  return program;
}

/** One sentence and the code; the stack only with LOG_LEVEL=debug. */
function errorText(error: unknown, { env }: Pick<Io, 'env'>): string {
  const code = error instanceof ChangefeedError ? ` [${error.code}]` : '';
  const stack = env['LOG_LEVEL'] === 'debug' && error instanceof Error ? `\n${error.stack ?? ''}` : '';
  return `changefeed: ${messageOf(error)}${code}${stack}`;
}

/** Commander's message (`error: unknown command 'swep'`, then a line `(Did you mean sweep?)`) in the form of all others. */
function usageText({ message }: CommanderError): string {
  const [first = '', ...more] = message.replace(/^error: /, '').split('\n');
  const hints = more.map((hint) => hint.trim().replace(/^\(Did/, '(did')).filter((hint) => hint !== '');
  return `changefeed: ${[first.replace(/\.$/, ''), ...hints].join(' ')}. See "changefeed --help". [CF_USAGE]`;
}

function packageVersion(): string {
  // package.json is next to src/ in a checkout, and next to dist/ in the package.
  const urls = ['../../package.json', '../../../package.json'].map((path) => new URL(path, import.meta.url));
  for (const url of urls) {
    try {
      return (JSON.parse(readFileSync(url, 'utf8')) as { version: string }).version;
    } catch {
      continue;
    }
  }
  return 'unknown';
}
