import type { ListName } from '../../crm/lists/lists.js';
import { listsNamed, workspaceOption } from '../arguments.js';
import { asText, defineFeedCommand, flag, restArguments, type Known } from '../command.js';
import { isConfirmed } from '../confirm.js';
import { fitted } from '../text.js';

/** Changes since the last sweep become no events, which cannot be undone: so a person confirms it. */
export const resync = defineFeedCommand({
  input: {
    lists: {
      ...restArguments('the lists, or "all"', asText, '<…>'),
      resolve: (names: ListName[], known: Known) =>
        names.flatMap((name) => (name === 'all' ? [name] : listsNamed([name], known))),
    },
    workspace: workspaceOption('the workspace, if there are several'),
    dryRun: flag('only say what would be done'),
    yes: flag('do not ask'),
  },
  async run({ lists, workspace, dryRun = false, yes = false }, { feed, decided }, io) {
    const names = lists.includes('all') ? feed.lists.names(workspace) : lists;
    const what = `drops the baseline of ${names.join(', ')}: changes since the last sweep will make no events`;
    if (dryRun) {
      io.out(fitted(`This ${what}. Nothing was changed.`, io.columns));
      return 0;
    }
    if (!(await isConfirmed({ command: 'resync', what: `This ${what}`, yes }, io))) return 1;
    for (const list of names) {
      await feed.lists.resync(list, workspace);
      decided('resync', { list, workspace, count: 1 });
      const done = `List "${list}": the baseline is dropped; the next sweep makes no events. Records and sequences stay.`;
      io.out(fitted(done, io.columns));
    }
    return 0;
  },
});
