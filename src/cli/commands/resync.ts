import { LIST_NAMES } from '../../events/lists.js';
import { listName } from '../arguments.js';
import { asText, atLeastOne, defineCommand, option, restArguments, withFeed } from '../command.js';

export const resync = defineCommand({
  name: 'resync',
  description: 'drop the baseline of lists: their next sweep makes no events',
  input: {
    lists: atLeastOne(
      restArguments('the lists, or "all"', (text, name) => (text === 'all' ? 'all' : listName(text, name))),
    ),
    workspace: option('name', 'the workspace, if there are several', asText),
  },
  async run({ lists, workspace, config }, io) {
    const chosen = lists.flatMap((list) => (list === 'all' ? LIST_NAMES : [list]));
    await withFeed(io, config, async ({ feed }) => {
      for (const list of new Set(chosen)) {
        await feed.lists.resync(list, workspace);
        io.out(`List "${list}": the baseline is dropped; the next sweep makes no events. Records and sequences stay.`);
      }
    });
    return 0;
  },
});
