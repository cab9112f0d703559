import { listName } from '../arguments.js';
import { argument, asText, defineCommand, option, withFeed } from '../command.js';

export const acceptCreations = defineCommand({
  name: 'accept-creations',
  description: 'let held new records through',
  input: {
    list: argument('the list', listName),
    workspace: option('name', 'the workspace, if there are several', asText),
  },
  async run({ list, workspace, config }, io) {
    const accepted = await withFeed(io, config, ({ feed }) => feed.lists.acceptCreations(list, workspace));
    io.out(
      accepted === 0
        ? `List "${list}": no creations are held.`
        : `List "${list}": ${accepted} creations accepted; the next complete sweep emits them.`,
    );
    return 0;
  },
});
