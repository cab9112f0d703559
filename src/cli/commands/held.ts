/** What waits until a person decides about a list. */
import { heldText } from '../../ops/watch/problems.js';
import { wordsFor } from '../../words/words.js';
import { formatsOf, say } from '../answers.js';
import { workspaceOption } from '../arguments.js';
import { defineFeedCommand, flag } from '../command.js';
import { cut, printable } from '../text.js';

const PLACES = 40;

export const held = defineFeedCommand({
  input: { workspace: workspaceOption('only this workspace'), json: flag('print it as JSON') },
  async run({ workspace, json = false }, { feed, config }, io) {
    const all = await feed.lists.allHeld(workspace);
    const formats = formatsOf(config, io.env, all[0]?.at ?? '');
    const { t, word } = wordsFor(formats.language);
    if (json) io.out(JSON.stringify(all));
    else if (all.length === 0) io.out(t('status.nothingHeld'));
    for (const one of json ? [] : all) {
      const place = `${one.list} --workspace ${one.workspace}`;
      const names = one.examples.map(({ id, title }) => printable(cut(title ?? id, PLACES)));
      const list = formats.language === 'en' ? one.list : word('list', one.list);
      const said = [
        `${one.workspace} ${list}: ${heldText(one, formats)}`,
        ...(names.length === 0 ? [] : [t('status.examples', { names: names.join(', ') })]),
        t('status.since', { when: formats.dateTime(one.since) }),
        t('status.decide', { place }),
      ];
      say(io, said.join(' '));
    }
  },
});
