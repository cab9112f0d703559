import type { Rule } from '../../config/rules.js';
import { usage } from '../../kit/errors.js';
import { defineCommand, flag, restArguments } from '../command.js';
import { count, printable, table } from '../text.js';

/** It needs no Redis: a pipeline checks a file. */
export const rules = defineCommand({
  input: {
    check: restArguments('check: only say whether they are valid', (text) => text, '[…]'),
    json: flag('print them as JSON'),
  },
  async run({ check: words, json = false, config: path }, io) {
    const [word, ...more] = words;
    if ((word !== undefined && word !== 'check') || more.length > 0)
      throw usage(`rules: found "${words.join(' ')}"; allowed: nothing, or check.`);
    const { loadConfig } = await import('../../config/load.js');
    const { config } = await loadConfig({ ...io, path });
    const { rulesOf } = await import('../../config/rules.js');
    const { file, rules: found } = rulesOf(config);
    if (file === null)
      throw usage(`rules: the configuration names no file of rules: rules: './changefeed.rules.json'.`);
    const on = found.filter(({ enabled }) => enabled).length;
    if (json) io.out(JSON.stringify({ file: file.source, rules: found.map(({ data }) => data) }));
    else if (word === 'check' || found.length === 0)
      io.out(`${file.source}: ${count(found.length, 'rule')}, ${on} switched on. All are valid.`);
    else io.out(table(['rule', 'on', 'to', 'title'], found.map(rowOf), io.colours.out));
    return 0;
  },
});

function rowOf({ id, enabled, data: { title = '', to } }: Rule): string[] {
  return [id, enabled ? 'yes' : 'no', printable(to), printable(title)];
}
