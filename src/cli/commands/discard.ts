import { listArgument, workspaceOption } from '../arguments.js';
import { defineFeedCommand, flag } from '../command.js';
import { isConfirmed } from '../confirm.js';
import { count, fitted } from '../text.js';

export const discard = defineFeedCommand({
  input: {
    list: listArgument('the list'),
    workspace: workspaceOption('the workspace, if there are several'),
    yes: flag('do not ask'),
  },
  async run({ list, workspace, yes = false }, { feed, decided }, io) {
    const held = await feed.lists.held(list, workspace);
    const parts = held.map((one) => count(one.count, one.what === 'removals' ? 'held removal' : 'held new record'));
    const what = `This forgets ${parts.join(' and ')} of the list "${list}": no event reports them`;
    if (held.length > 0 && !(await isConfirmed({ command: 'discard', what, yes }, io))) return 1;
    const discarded = await feed.lists.discard(list, workspace);
    decided('discard', { list, workspace, count: discarded.reduce((sum, one) => sum + one.count, 0) });
    const outcome = discarded.length === 0 ? 'nothing is held.' : `${parts.join(' and ')} discarded.`;
    io.out(fitted(`List "${list}": ${outcome}`, io.columns));
    return 0;
  },
});
