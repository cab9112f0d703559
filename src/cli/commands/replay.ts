import { asText, defineCommand, flag, option, requiredOption, withFeed } from '../command.js';
import { checkWorkspace } from '../arguments.js';
import { count } from '../text.js';

/**
 * Puts the events into the queue; a process with the role `handle` handles them. If the command is stopped or killed, the
 * processes with the role `dispatch` send the rest.
 */
export const replay = defineCommand({
  name: 'replay',
  description: 'send a range of the log to one subscription again',
  input: {
    subscription: requiredOption('name', 'the subscription', asText),
    from: requiredOption('offset', 'a log id, a time or "beginning"', asText),
    to: option('id', 'a log id, the last one (default: as far as the subscription has read)', asText),
    workspace: option('name', 'only this workspace', asText),
    json: flag('print the count as JSON'),
  },
  run: ({ subscription, from, to, workspace, json = false, config: path }, io) =>
    withFeed(io, path, async ({ feed, config }) => {
      checkWorkspace(workspace, config);
      const result = await feed.replay({ subscription, from, to, workspace, signal: io.signal });
      if (json) io.out(JSON.stringify(result));
      else io.out(`${count(result.events, 'event')} sent to "${subscription}" again${endText(result)}`);
      return result.interrupted ? 1 : 0;
    }),
});

function endText({
  interrupted,
  reached,
}: {
  interrupted: boolean;
  reached: Readonly<Record<string, string>>;
}): string {
  if (!interrupted) return '';
  const offsets = Object.entries(reached).map(([workspace, logId]) => `${workspace} up to ${logId}`);
  const far = offsets.length === 0 ? '' : ` (${offsets.join(', ')})`;
  return ` so far${far}; the running service, or the next one, sends the rest`;
}
