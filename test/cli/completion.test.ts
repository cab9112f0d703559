import { execFileSync, spawnSync } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { EXAMPLES } from '../../src/cli/commands.js';
import { useCli } from '../support/cli.js';
import { cliProgram, commandNames } from '../support/cli-page.js';

const cli = useCli();

it('completion: bash completes commands, and the options of a command', async () => {
  const { stdout: script } = await (await cli()).call(['completion', 'bash']);
  const complete = (...words: string[]): string[] => {
    const line = `COMP_WORDS=(changefeed ${words.join(' ')}) COMP_CWORD=${words.length}`;
    const shown = execFileSync('bash', ['-c', `${script}\n${line}; _changefeed; printf '%s\\n' "\${COMPREPLY[@]}"`]);
    return shown.toString().trim().split('\n');
  };
  expect([complete('sub'), complete('tail', '--f'), complete('nothing', '--')]).toEqual([
    ['subscriptions'],
    ['--from'],
    [''],
  ]);
});

it.each(['zsh', 'fish'] as const)(
  'completion: the script for %s names every command and is free of faults',
  async (shell) => {
    const folder = await cli();
    const { stdout: script } = await folder.call(['completion', shell]);
    for (const name of commandNames) expect(script).toMatch(new RegExp(`(\\s|')${name}(:| -f | -d |\\))`));
    const file = join(folder.cwd, 'script');
    await writeFile(file, script);
    const { error, status } = spawnSync(shell, ['-n', file]);
    // On a machine without the shell, its own check is left out.
    expect(error === undefined ? status : 0).toBe(0);
  },
);

it('examples: every command has some in its help, and accepts their options', async () => {
  expect(Object.keys(EXAMPLES).sort()).toEqual([...commandNames].sort());
  for (const command of cliProgram.commands)
    for (const example of EXAMPLES[command.name()]!) {
      const [name, ...args] = example.replace(/ >.*/, '').match(/'[^']*'|\S+/g)!;
      const verb = command.commands.find((one) => one.name() === args[0]) ?? command;
      const given = args.slice(verb === command ? 0 : 1).map((one) => one.replace(/^'(.*)'$/, '$1'));
      const { operands, unknown } = verb.parseOptions(given);
      const most = verb.registeredArguments.at(-1)?.variadic === true ? Infinity : verb.registeredArguments.length;
      expect({ name, unknown }).toEqual({ name: command.name(), unknown: [] });
      expect(operands.length).toBeLessThanOrEqual(most);
    }
  const { stdout } = await (await cli()).call(['tail', '--help']);
  expect(stdout).toContain(`Examples:\n  changefeed ${EXAMPLES['tail']![0]}\n`);
});
