import type { Replayed } from '../../app/changefeed.js';
import { workspaceOption } from '../arguments.js';
import { asText, defineFeedCommand, flag, option, requiredOption } from '../command.js';
import { count } from '../text.js';

/**
 * Puts the events into the queue; a process with the role `handle` handles them. If the command is stopped or killed, the
 * processes with the role `dispatch` send the rest.
 */
export const replay = defineFeedCommand({
  input: {
    subscription: requiredOption('name', 'the subscription', asText),
    from: requiredOption('offset', 'a log id, a time or "beginning"', asText),
    to: option('id', 'a log id, the last one (default: as far as the subscription has read)', asText),
    workspace: workspaceOption('only this workspace'),
    json: flag('print the count as JSON'),
  },
  async run({ subscription, from, to, workspace, json = false }, { feed }, io) {
    const result = await feed.replay({ subscription, from, to, workspace, signal: io.signal });
    if (json) io.out(JSON.stringify(result));
    else io.out(`${count(result.events, 'event')} sent to "${subscription}" again${endText(result)}`);
    return result.interrupted ? 1 : 0;
  },
});

function endText({ interrupted, reached }: Replayed): string {
  if (!interrupted) return '';
  const offsets = Object.entries(reached).map(([workspace, logId]) => `${workspace} up to ${logId}`);
  const far = offsets.length === 0 ? '' : ` (${offsets.join(', ')})`;
  return ` so far${far}; the running service, or the next one, sends the rest`;
}
