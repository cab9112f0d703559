import { forgetWorkspace as action } from '../../actions/lists.js';
import type { Forgotten } from '../../ops/forgetting/forget.js';
import { entryOf } from '../../actions/entry.js';
import { answer, isConfirmed } from '../answers.js';
import { argument, asText, defineFeedCommand, flag } from '../command.js';
import { count } from '../text.js';

/** Cannot be undone, so a person confirms it by typing the name of the workspace. */
export const forget = defineFeedCommand({
  input: {
    workspace: argument('its name, whether the configuration still has it or not', asText),
    yes: flag('do not ask'),
    json: flag('print it as JSON'),
  },
  async run({ workspace, yes = false, json = false }, { feed, decided }, io) {
    const question = {
      command: 'forget',
      what: `This deletes all stored data of workspace "${workspace}" and cannot be undone`,
      yes,
      ask: ': records, log, dead letters. Type its name to continue: ',
      isYes: (typed: string) => typed === workspace,
    };
    let forgotten: Forgotten = nothing(workspace);
    if (yes || (await feed.isStored(workspace))) {
      if (!(await isConfirmed(question, io))) return 1;
      forgotten = await feed.forget(workspace);
      await decided(entryOf(action, { name: workspace }, forgotten));
    }
    answer(io, json, forgotten, forgottenText(forgotten));
    return 0;
  },
});

const nothing = (workspace: string): Forgotten => ({
  ...{ workspace, records: 0, events: 0, keys: 0 },
  deliveries: { waiting: 0, handled: 0, dead: 0 },
});

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
