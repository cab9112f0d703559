/** The parts of docs/cli.md that are made from the commands. */
import { readFileSync } from 'node:fs';
import type { Io } from '../../src/cli/io.js';
import { noColours } from '../../src/cli/text.js';
import { loadCommand } from '../../src/cli/commands.js';
import { buildProgram } from '../../src/cli/program.js';

const PAGE = new URL('../../docs/cli.md', import.meta.url);

export const quietIo: Io = {
  out: () => undefined,
  write: () => Promise.resolve(),
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
export const cliProgram = buildProgram(quietIo, () => undefined);
for (const command of cliProgram.commands) (await loadCommand(command.name()))(command, quietIo, () => undefined);

export const commandNames = cliProgram.commands.map((command) => command.name());

export function cliPage(): string {
  return readFileSync(PAGE, 'utf8').replace(
    /(<!-- options: ([\w-]+) -->\n)[^]*?(<!-- end -->)/g,
    (_, start: string, name: string, end: string) => `${start}${commandText(name)}\n${end}`,
  );
}

function commandText(name: string): string {
  const command = name === 'changefeed' ? cliProgram : cliProgram.commands.find((one) => one.name() === name);
  if (command === undefined) throw new Error(`docs/cli.md names a command "${name}" that does not exist`);
  const all = [command, ...(name === 'changefeed' ? [] : command.commands)];
  return `\n\`\`\`\n${all.map((one) => one.helpInformation().trimEnd()).join('\n\n')}\n\`\`\`\n`;
}
