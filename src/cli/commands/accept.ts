/** `accept-removals` and `accept-creations`: a person releases what a guard holds back. */
import type { Inspector } from '../../app/changefeed.js';
import { listNamed } from '../arguments.js';
import { argument, asText, defineCommand, option, withFeed, type AddCommand } from '../command.js';

interface AcceptSpec {
  what: 'removals' | 'creations';
  description: string;
  accept: (lists: Inspector, list: string, workspace?: string) => Promise<number>;
  /** What happens to what was accepted. */
  next: string;
}

function acceptCommand({ what, description, accept, next }: AcceptSpec): AddCommand {
  return defineCommand({
    name: `accept-${what}`,
    description,
    input: {
      list: argument('the list', asText),
      workspace: option('name', 'the workspace, if there are several', asText),
    },
    async run({ list, workspace, config }, io) {
      const [name, accepted] = await withFeed(
        io,
        config,
        async ({ feed, lists }) => {
          const named = listNamed(list, lists);
          return [named, await accept(feed.lists, named, workspace)] as const;
        },
        ({ lists }) => void listNamed(list, lists),
      );
      io.out(`List "${name}": ${accepted === 0 ? `no ${what} are held.` : `${accepted} ${what} accepted; ${next}.`}`);
      return 0;
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
