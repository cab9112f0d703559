/** `accept-removals` and `accept-creations`: a person releases what a guard holds back. */
import type { Inspector } from '../../app/changefeed.js';
import { listArgument, workspaceOption } from '../arguments.js';
import { defineFeedCommand, type AddCommand } from '../command.js';

interface AcceptSpec {
  what: 'removals' | 'creations';
  description: string;
  accept: (lists: Inspector, list: string, workspace?: string) => Promise<number>;
  /** What happens to what was accepted. */
  next: string;
}

function acceptCommand({ what, description, accept, next }: AcceptSpec): AddCommand {
  return defineFeedCommand({
    name: `accept-${what}`,
    description,
    input: { list: listArgument('the list'), workspace: workspaceOption('the workspace, if there are several') },
    async run({ list, workspace }, { feed }, io) {
      const accepted = await accept(feed.lists, list, workspace);
      io.out(`List "${list}": ${accepted === 0 ? `no ${what} are held.` : `${accepted} ${what} accepted; ${next}.`}`);
    },
  });
}

export const acceptRemovals = acceptCommand({
  what: 'removals',
  description: 'let a held mass removal through',
  accept: (lists, list, workspace) => lists.acceptRemovals(list, workspace),
  next: 'the next complete sweep that still misses them emits them',
});

export const acceptCreations = acceptCommand({
  what: 'creations',
  description: 'let held new records through',
  accept: (lists, list, workspace) => lists.acceptCreations(list, workspace),
  next: 'the next complete sweep emits them',
});
