/** The command line: the program with all its commands, and how a failure is reported. */
import { Command, CommanderError } from 'commander';
import { addEnvFile } from '../config/env-file.js';
import { exitCodeOf, messageOf, usage, ChangefeedError } from '../kit/errors.js';
import { packageVersion } from '../kit/package-files.js';
import { COMMANDS, EXAMPLES, loadCommand } from './commands.js';
import type { Io } from './io.js';
import { problemsText, type LocatedProblem, type Place } from '../config/report.js';
import { cut, widthOf } from './text.js';

/** On wider terminals too: long lines are hard to read. docs/cli.md quotes the help at this width. */
const MOST_HELP_COLUMNS = 100;

/** Runs one command line. Resolves to the exit code: 0 done, 1 failed while running, 2 usage or configuration. */
export async function runCli(args: readonly string[], io: Io): Promise<number> {
  let code = 0;
  const program = buildProgram(io, (result) => (code = result));
  try {
    // It puts its own undici in place, without what polling needs.
    if ('Bun' in globalThis)
      throw usage('Changefeed does not run on Bun. Run it with Node 20.19 or newer, or with Deno.');
    const words = withoutHelpCommand(args);
    refuseUnknownCommand(program, words);
    await program.parseAsync(words, { from: 'user' });
    return code;
  } catch (error) {
    if (error instanceof CommanderError) {
      if (error.exitCode === 0) return 0;
      // Without a command, the help has been shown already.
      if (error.code !== 'commander.help') io.err(usageText(error, commandOf(args)));
      return 2;
    }
    // Only here: the client of Redis takes long to load.
    const { asRefusal } = await import('../redis/conditions.js');
    io.err(errorText(asRefusal(error), io));
    return exitCodeOf(error);
  }
}

function commandOf(args: readonly string[]): string | undefined {
  const names = new Set(Object.values(COMMANDS).flatMap(Object.keys));
  return args.find((one) => names.has(one));
}

/** With `--help` after an unknown command, commander would show the help of the program as if all were well. */
function refuseUnknownCommand(program: Command, [first = '']: readonly string[]): void {
  if (first.startsWith('-') || first === '' || commandOf([first]) !== undefined) return;
  program.parse([first], { from: 'user' });
}

/** `help sweep` is `sweep --help`: commander's own `help` would show a command that is not loaded. */
function withoutHelpCommand([first, ...rest]: readonly string[]): string[] {
  if (first === undefined) return [];
  return first === 'help' ? [...rest.slice(0, 1), '--help'] : [first, ...rest];
}

export function buildProgram(io: Io, done: (code: number) => void): Command {
  const program = new Command('changefeed')
    .description("Turns a CRM's read-only list API into a reliable stream of change events.")
    .version(packageVersion())
    .option(
      '-c, --config <file>',
      'configuration file (default: changefeed.config.{ts,js,mjs,json}, or the environment)',
    )
    .helpCommand(false)
    .addHelpText('after', '\nchangefeed <command> --help shows the arguments and options of a command.')
    .configureHelp({
      helpWidth: Math.min(io.columns ?? MOST_HELP_COLUMNS, MOST_HELP_COLUMNS),
      // Arguments and options of a command are known when it is loaded.
      subcommandTerm: (command) => command.name(),
    })
    .configureOutput({
      writeOut: (text) => io.out(text.trimEnd()),
      writeErr: (text) => io.err(text.trimEnd()),
      // `runCli` prints errors, in one form for all.
      outputError: () => undefined,
    })
    .exitOverride();
  for (const [heading, commands] of Object.entries(COMMANDS))
    for (const [name, description] of Object.entries(commands))
      program.command(name).description(description).helpGroup(heading).addHelpText('after', examplesOf(name));
  program.hook('preSubcommand', async (_, command) => {
    addEnvFile(io.cwd, io.env);
    (await loadCommand(command.name()))(command, io, done);
  });
  return program;
}

function examplesOf(name: string): string {
  return ['\nExamples:', ...(EXAMPLES[name] ?? []).map((example) => `  changefeed ${example}`)].join('\n');
}

/** One sentence and the code; the stack only with LOG_LEVEL=debug. */
function errorText(error: unknown, { env, errorColumns }: Io): string {
  const code = error instanceof ChangefeedError ? ` [${error.code}]` : '';
  const stack = env['LOG_LEVEL'] === 'debug' && error instanceof Error ? `\n${error.stack ?? ''}` : '';
  const report = configReport(error, errorColumns);
  if (report === undefined || !report.includes('\n')) return `changefeed: ${messageOf(error)}${code}${stack}`;
  return `changefeed: ${report}\n${code.trimStart()}${stack}`;
}

/** Commander's message (`error: unknown command 'swep'`, then `(Did you mean sweep?)`) in the form of all others. */
function usageText({ message }: CommanderError, command: string | undefined): string {
  const [first = '', ...more] = message.replace(/^error: /, '').split('\n');
  const hints = more.map((hint) => hint.trim().replace(/^\(Did/, '(did')).filter((hint) => hint !== '');
  const help = ['changefeed', ...(command === undefined ? [] : [command]), '--help'].join(' ');
  return `changefeed: ${[first.replace(/\.$/, ''), ...hints].join(' ')}. See "${help}". [CF_USAGE]`;
}

/** The problems of a configuration, the first one of a JSON file with its place; undefined for any other error. */
export function configReport(error: unknown, columns = 100): string | undefined {
  if (!(error instanceof ChangefeedError)) return undefined;
  const { source, problems } = error.facts;
  if (typeof source !== 'string' || !Array.isArray(problems)) return undefined;
  return problemsText(source, problems as LocatedProblem[], (place) => codeFrame(place, columns));
}

/** Undefined where the problem is further right than the terminal is wide: its line and column are enough then. */
function codeFrame({ line, column = 1, lines = [] }: Place, columns: number): string | undefined {
  const digits = String(line).length;
  const margin = `    ${' '.repeat(digits)} | `;
  const width = columns - margin.length;
  const before = (lines.at(-1) ?? '').slice(0, column - 1);
  if (lines.length === 0 || widthOf(before) >= width - 1) return undefined;
  const shown = lines.map((content, index) => {
    const number = line - lines.length + 1 + index;
    return `  ${number === line ? '>' : ' '} ${String(number).padStart(digits)} | ${cut(content, width)}`.trimEnd();
  });
  // A tab takes as many columns as the one above it, a Korean character two.
  const gap = before.replace(/[^\t]+/g, (text) => ' '.repeat(widthOf(text)));
  return [...shown, `${margin}${gap}^`].join('\n');
}
