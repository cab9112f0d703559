import { usage } from '../../kit/errors.js';
import type { Forgotten } from '../../service/changefeed.js';

import { argument, asText, defineCommand, flag, withFeed } from '../command.js';
import type { Io } from '../io.js';
import { count, fitted } from '../text.js';

/** Cannot be undone, so a person confirms it by typing the name of the workspace. */
export const forget = defineCommand({
  input: {
    workspace: argument('its name, whether the configuration still has it or not', asText),
    yes: flag('do not ask'),
    json: flag('print it as JSON'),
  },
  async run({ workspace, yes = false, json = false, config }, io) {
    const forgotten = await withFeed(io, config, async ({ feed, decided }) => {
      if (!yes && !(await feed.isStored(workspace))) return nothing(workspace);
      if (!yes && !(await isConfirmed(workspace, io))) return null;
      const done = await feed.forget(workspace);
      decided('forget', { workspace, count: done.records });
      return done;
    });
    if (forgotten === null) {
      io.err('Nothing was deleted.');
      return 1;
    }
    io.out(json ? JSON.stringify(forgotten) : fitted(forgottenText(forgotten), io.columns));
    return 0;
  },
});

function nothing(workspace: string): Forgotten {
  return { workspace, records: 0, events: 0, deliveries: { waiting: 0, handled: 0, dead: 0 }, keys: 0 };
}

async function isConfirmed(workspace: string, { ask }: Io): Promise<boolean> {
  const what = `This deletes all stored data of workspace "${workspace}" and cannot be undone`;
  if (ask === undefined) throw usage(`forget: ${what}. Without a terminal, confirm it with --yes.`);
  return (await ask(`${what}: records, log, dead letters. Type its name to continue: `)).trim() === workspace;
}

function forgottenText({ workspace, records, events, deliveries, keys }: Forgotten): string {
  const { waiting, handled, dead } = deliveries;
  if (keys + waiting + handled + dead === 0) return `Nothing is stored of a workspace "${workspace}".`;
  const what = [
    count(records, 'record'),
    `${count(events, 'event')} in the log`,
    `${count(waiting + handled, 'delivery', 'deliveries')} (${handled} handled, ${waiting} not)`,
    count(dead, 'dead letter'),
    count(keys, 'key'),
  ].join(', ');
  return `Workspace "${workspace}" is deleted: ${what}. What handlers have delivered is not touched.`;
}
