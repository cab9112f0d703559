import { listNamed } from '../arguments.js';
import { argument, asText, defineCommand, option, withFeed } from '../command.js';

export const acceptCreations = defineCommand({
  name: 'accept-creations',
  description: 'let held new records through',
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
        return [named, await feed.lists.acceptCreations(named, workspace)] as const;
      },
      ({ lists }) => void listNamed(list, lists),
    );
    io.out(
      accepted === 0
        ? `List "${name}": no creations are held.`
        : `List "${name}": ${accepted} creations accepted; the next complete sweep emits them.`,
    );
    return 0;
  },
});
