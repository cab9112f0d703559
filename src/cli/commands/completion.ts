import { word } from '../arguments.js';
import { argument, defineCommand } from '../command.js';
import { loadCommand } from '../commands.js';
import { completionScript, SHELLS } from '../completion.js';
import { buildProgram } from '../program.js';

const NAMES = Object.keys(SHELLS) as (keyof typeof SHELLS)[];

export const completion = defineCommand({
  input: { shell: argument(NAMES.join(', '), word(...NAMES)) },
  async run({ shell }, io) {
    const program = buildProgram(io, () => undefined);
    for (const command of program.commands) (await loadCommand(command.name()))(command, io, () => undefined);
    io.out(completionScript(shell, program));
    return 0;
  },
});
