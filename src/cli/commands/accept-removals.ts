import { listNamed } from '../arguments.js';
import { argument, asText, defineCommand, option, withFeed } from '../command.js';

export const acceptRemovals = defineCommand({
  name: 'accept-removals',
  description: 'let a held mass removal through',
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
        return [named, await feed.lists.acceptRemovals(named, workspace)] as const;
      },
      ({ lists }) => void listNamed(list, lists),
    );
    io.out(
      accepted === 0
        ? `List "${name}": no removals are held.`
        : `List "${name}": ${accepted} removals accepted; the next complete sweep that still misses them emits them.`,
    );
    return 0;
  },
});
