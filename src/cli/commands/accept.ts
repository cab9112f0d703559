import { listArgument, workspaceOption } from '../arguments.js';
import { defineFeedCommand } from '../command.js';
import { count, fitted } from '../text.js';

export const accept = defineFeedCommand({
  input: { list: listArgument('the list'), workspace: workspaceOption('the workspace, if there are several') },
  async run({ list, workspace }, { feed, decided }, io) {
    const accepted = await feed.lists.accept(list, workspace);
    decided('accept', { list, workspace, count: accepted.reduce((sum, one) => sum + one.count, 0) });
    const parts = accepted.map((one) => count(one.count, one.what === 'removals' ? 'removal' : 'new record'));
    const outcome =
      parts.length === 0
        ? 'nothing is held.'
        : `${parts.join(' and ')} accepted; the next complete sweep that still finds them emits them.`;
    io.out(fitted(`List "${list}": ${outcome}`, io.columns));
  },
});
