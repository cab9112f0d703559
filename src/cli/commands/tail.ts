import { logOffset, typeOption, workspaceOption } from '../arguments.js';
import { defineFeedCommand, flag, negatedFlag, option } from '../command.js';
import { eventLine } from '../print-event.js';

export const tail = defineFeedCommand({
  input: {
    json: flag('one CloudEvent per line'),
    from: option('offset', 'a log id, a time, "beginning" or "now" (default: now)', logOffset),
    type: typeOption('only these event types, separated by commas (* allowed)'),
    workspace: workspaceOption('only this workspace'),
    follow: negatedFlag('stop at the end of the log'),
  },
  async run({ json = false, from = 'now', type, follow, workspace }, { feed }, io) {
    const signal = AbortSignal.any([io.signal, feed.redisGone]);
    for await (const { event } of feed.tail({ from, types: type, workspace, follow, signal })) {
      io.out(json ? JSON.stringify(event) : eventLine(event, { colours: io.colours.out, columns: io.columns }));
    }
    feed.redisGone.throwIfAborted();
  },
});
