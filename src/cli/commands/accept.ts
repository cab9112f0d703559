/** `accept-removals` and `accept-creations`: a person releases what a guard holds back. */
import type { Inspector } from '../../app/changefeed.js';
import { listArgument, workspaceOption } from '../arguments.js';
import { defineFeedCommand, type DefineCommand } from '../command.js';
import { fitted } from '../text.js';

interface AcceptSpec {
  what: 'removals' | 'creations';
  accept: (lists: Inspector, list: string, workspace?: string) => Promise<number>;
  /** What happens to what was accepted. */
  next: string;
}

function acceptCommand({ what, accept, next }: AcceptSpec): DefineCommand {
  return defineFeedCommand({
    input: { list: listArgument('the list'), workspace: workspaceOption('the workspace, if there are several') },
    async run({ list, workspace }, { feed }, io) {
      const accepted = await accept(feed.lists, list, workspace);
      const outcome = accepted === 0 ? `no ${what} are held.` : `${accepted} ${what} accepted; ${next}.`;
      io.out(fitted(`List "${list}": ${outcome}`, io.columns));
    },
  });
}

export const acceptRemovals = acceptCommand({
  what: 'removals',
  accept: (lists, list, workspace) => lists.acceptRemovals(list, workspace),
  next: 'the next complete sweep that still misses them emits them',
});

export const acceptCreations = acceptCommand({
  what: 'creations',
  accept: (lists, list, workspace) => lists.acceptCreations(list, workspace),
  next: 'the next complete sweep emits them',
});
