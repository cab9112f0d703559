import { heldText } from '../../observability/problems.js';
import { workspaceOption } from '../arguments.js';
import { defineFeedCommand, flag } from '../command.js';
import { cut, fitted, printable } from '../text.js';

const PLACES = 40;

export const held = defineFeedCommand({
  input: { workspace: workspaceOption('only this workspace'), json: flag('print it as JSON') },
  async run({ workspace, json = false }, { feed }, io) {
    const all = await feed.lists.allHeld(workspace);
    if (json) io.out(JSON.stringify(all));
    else if (all.length === 0) io.out('Nothing is held.');
    for (const one of json ? [] : all) {
      const place = `${one.list} --workspace ${one.workspace}`;
      const decide = `changefeed accept ${place}, or changefeed discard ${place}`;
      const names = one.examples.map(({ id, title }) => printable(cut(title ?? id, PLACES)));
      const such = names.length === 0 ? '' : ` Such as ${names.join(', ')}.`;
      io.out(fitted(`${one.workspace} ${one.list}: ${heldText(one)}${such} Since ${one.since}. ${decide}`, io.columns));
    }
  },
});
