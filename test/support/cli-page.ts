/** The parts of docs/cli.md that are made from the commands, and the shapes it promises for `--json`. */
import { readFileSync } from 'node:fs';
import type { Io } from '../../src/cli/io.js';
import { noColours } from '../../src/cli/text.js';
import { loadCommand } from '../../src/cli/commands.js';
import { buildProgram } from '../../src/cli/program.js';

const PAGE = new URL('../../docs/cli.md', import.meta.url);

export const quietIo: Io = {
  out: () => undefined,
  err: () => undefined,
  interactive: false,
  colours: { out: noColours, err: noColours },
  columns: undefined,
  ask: undefined,
  readInput: () => Promise.resolve(''),
  live: () => ({ show: () => undefined, end: () => undefined }),
  env: {},
  cwd: '.',
  onHangUp: () => undefined,
  signal: new AbortController().signal,
};
const program = buildProgram(quietIo, () => undefined);
for (const command of program.commands) (await loadCommand(command.name()))(command, quietIo, () => undefined);

export const commandNames = program.commands.map((command) => command.name());

export function cliPage(): string {
  return readFileSync(PAGE, 'utf8').replace(
    /(<!-- options: ([\w-]+) -->\n)[^]*?(<!-- end -->)/g,
    (_, start: string, name: string, end: string) => `${start}${commandText(name)}\n${end}`,
  );
}

function commandText(name: string): string {
  const command = name === 'changefeed' ? program : program.commands.find((one) => one.name() === name);
  if (command === undefined) throw new Error(`docs/cli.md names a command "${name}" that does not exist`);
  return `\n\`\`\`\n${command.helpInformation().trimEnd()}\n\`\`\`\n`;
}

export function promisedShape(name: 'sweep' | 'status'): unknown {
  const found = new RegExp(`<!-- shape: ${name} -->\n\`\`\`json\n([^]*?)\n\`\`\``).exec(readFileSync(PAGE, 'utf8'));
  return shapeOf(JSON.parse(found?.[1] ?? 'null'));
}

/** Names and types. Of an array only its first element, of counts only that they are numbers. */
export function shapeOf(value: unknown): unknown {
  if (Array.isArray(value)) return value.length === 0 ? [] : [shapeOf(value[0])];
  if (typeof value !== 'object' || value === null) return value === null ? 'null' : typeof value;
  const entries = Object.entries(value).map(([key, inner]) => [key, key === 'counts' ? 'counts' : shapeOf(inner)]);
  return Object.fromEntries(entries) as object;
}
