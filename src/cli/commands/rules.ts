import { entryOf } from '../../actions/entry.js';
import { forgetMissingRules } from '../../actions/rules.js';
import type { Rule } from '../../config/rules.js';
import { usage } from '../../kit/errors.js';
import { answer } from '../answers.js';
import { defineCommand, flag, restArguments, withFeed, type CommandService } from '../command.js';
import type { Io } from '../io.js';
import { count, printable, table } from '../text.js';

/** Only `forget-missing` needs Redis: a pipeline checks a file. */
export const rules = defineCommand({
  input: {
    check: restArguments(
      'check: only say whether they are valid; forget-missing: those of a file that is gone are to be gone',
      (text) => text,
      '[…]',
    ),
    json: flag('print them as JSON'),
  },
  async run({ check: words, json = false, config: path }, io) {
    const [word, ...more] = words;
    if ((word !== undefined && word !== 'check' && word !== 'forget-missing') || more.length > 0)
      throw usage(`rules: found "${words.join(' ')}"; allowed: nothing, check or forget-missing.`);
    if (word === 'forget-missing') return await withFeed(io, path, (service) => forgetMissing(service, json, io));
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
    else if (word === 'check' || found.length === 0)
      io.out(`${file.source}: ${count(found.length, 'rule')}, ${on} switched on. All are valid.`);
    else io.out(table(['rule', 'on', 'to', 'title'], found.map(rowOf), io.colours.out));
    return 0;
  },
});

async function forgetMissing({ feed, decided }: CommandService, json: boolean, io: Io): Promise<number> {
  const forgotten = await feed.forgetMissingRules();
  await decided(entryOf(forgetMissingRules, {}, forgotten));
  const { count: rules } = forgotten;
  answer(
    io,
    json,
    forgotten,
    rules === 0 ? 'No rules are missing.' : `${count(rules, 'rule')} forgotten: there are none.`,
  );
  return 0;
}

function rowOf({ id, enabled, data: { title = '', to } }: Rule): string[] {
  return [id, enabled ? 'yes' : 'no', printable(to), printable(title)];
}
