import type { ListName } from '../../crm/lists/lists.js';
import { listArguments, listsNamed, workspaceOption } from '../arguments.js';
import { atLeastOne, defineFeedCommand, type Known } from '../command.js';

export const resync = defineFeedCommand({
  input: {
    lists: {
      ...atLeastOne(listArguments('the lists, or "all"')),
      resolve: (names: ListName[], known: Known) =>
        names.flatMap((name) => (name === 'all' ? [name] : listsNamed([name], known))),
    },
    workspace: workspaceOption('the workspace, if there are several'),
  },
  async run({ lists, workspace }, { feed }, io) {
    for (const list of lists.includes('all') ? feed.lists.names(workspace) : lists) {
      await feed.lists.resync(list, workspace);
      io.out(`List "${list}": the baseline is dropped; the next sweep makes no events. Records and sequences stay.`);
    }
  },
});
