import { heldText } from '../../observability/problems.js';
import { workspaceOption } from '../arguments.js';
import { defineFeedCommand, flag } from '../command.js';
import { fitted } from '../text.js';

export const held = defineFeedCommand({
  input: { workspace: workspaceOption('only this workspace'), json: flag('print it as JSON') },
  async run({ workspace, json = false }, { feed }, io) {
    const { workspaces } = await feed.status();
    const all = workspaces
      .filter(({ name }) => workspace === undefined || name === workspace)
      .flatMap(({ name, lists }) =>
        lists.flatMap((list) => list.held.map((one) => ({ workspace: name, list: list.list, ...one }))),
      );
    if (json) io.out(JSON.stringify(all));
    else if (all.length === 0) io.out('Nothing is held.');
    for (const one of json ? [] : all) {
      const accept = `changefeed accept ${one.list} --workspace ${one.workspace}`;
      io.out(fitted(`${one.workspace} ${one.list}: ${heldText(one)} Since ${one.since}. ${accept}`, io.columns));
    }
  },
});
