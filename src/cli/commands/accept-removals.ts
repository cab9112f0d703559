import { listName } from '../arguments.js';
import { argument, asText, defineCommand, option, withFeed } from '../command.js';

export const acceptRemovals = defineCommand({
  name: 'accept-removals',
  description: 'let a held mass removal through',
  input: {
    list: argument('the list', listName),
    workspace: option('name', 'the workspace, if there are several', asText),
  },
  async run({ list, workspace, config }, io) {
    const accepted = await withFeed(io, config, ({ feed }) => feed.lists.acceptRemovals(list, workspace));
    io.out(
      accepted === 0
        ? `List "${list}": no removals are held.`
        : `List "${list}": ${accepted} removals accepted; the next complete sweep that still misses them emits them.`,
    );
    return 0;
  },
});
