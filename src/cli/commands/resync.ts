import { listsNamed } from '../arguments.js';
import { asText, atLeastOne, defineCommand, option, restArguments, withFeed } from '../command.js';

export const resync = defineCommand({
  name: 'resync',
  description: 'drop the baseline of lists: their next sweep makes no events',
  input: {
    lists: atLeastOne(restArguments('the lists, or "all"', asText)),
    workspace: option('name', 'the workspace, if there are several', asText),
  },
  async run({ lists, workspace, config }, io) {
    await withFeed(
      io,
      config,
      async ({ feed, lists: known }) => {
        const chosen = lists.includes('all') ? feed.lists.names(workspace) : listsNamed(lists, known);
        for (const list of chosen) {
          await feed.lists.resync(list, workspace);
          io.out(
            `List "${list}": the baseline is dropped; the next sweep makes no events. Records and sequences stay.`,
          );
        }
      },
      ({ lists: known }) =>
        void listsNamed(
          lists.filter((one) => one !== 'all'),
          known,
        ),
    );
    return 0;
  },
});
