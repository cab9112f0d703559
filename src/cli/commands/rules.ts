/** The rules of the file. Only `forget-missing`, which is an action, needs Redis: a pipeline checks a file. */
import type { Rule } from '../../config/rules.js';
import { usage } from '../../kit/errors.js';
import { commandsNamed } from '../action-command.js';
import { defineCommand, flag, type DefineCommand } from '../command.js';
import { count, printable, table } from '../text.js';

const rulesCommand = (shown: 'each' | 'count'): DefineCommand =>
  defineCommand({
    input: { json: flag('print them as JSON') },
    async run({ json = false, config: path }, io) {
      const { loadConfig } = await import('../../config/load.js');
      const { config } = await loadConfig({ ...io, path });
      const { rulesOf, saysNothing } = await import('../../config/rules.js');
      const { file, rules: found } = rulesOf(config);
      if (file === null)
        throw usage(`rules: the configuration names no file of rules: rules: './changefeed.rules.json'.`);
      const on = found.filter(({ enabled }) => enabled).length;
      if (saysNothing(file))
        io.err(`${file.source}: there is no such file, or it is empty: no rule is made yet, or all are missing.`);
      if (json) io.out(JSON.stringify({ file: file.source, rules: found.map(({ data }) => data) }));
      else if (shown === 'count' || found.length === 0)
        io.out(`${file.source}: ${count(found.length, 'rule')}, ${on} switched on. All are valid.`);
      else io.out(table(['rule', 'on', 'to', 'title'], found.map(rowOf), io.colours.out));
      return 0;
    },
  });

export const rules = commandsNamed('rules', {
  '': ['', rulesCommand('each')],
  check: ['only say whether they are valid', rulesCommand('count')],
});

function rowOf({ id, enabled, data: { title = '', to } }: Rule): string[] {
  return [id, enabled ? 'yes' : 'no', printable(to), printable(title)];
}
