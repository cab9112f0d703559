import { checkEventPatterns, checkWorkspace, logOffset, separated } from '../arguments.js';
import {
  asText,
  defineCommand,
  flag,
  negatedFlag,
  option,
  withFeed,
  type CheckArguments,
  type CommandService,
} from '../command.js';
import { eventLine } from '../print-event.js';

export const tail = defineCommand({
  name: 'tail',
  description: 'follow the log of events',
  input: {
    json: flag('one CloudEvent per line'),
    from: option('offset', 'a log id, a time, "beginning" or "now" (default: now)', logOffset),
    type: option('patterns', 'only these event types, separated by commas (* allowed)', separated),
    workspace: option('name', 'only this workspace', asText),
    follow: negatedFlag('stop at the end of the log'),
  },
  run: ({ json = false, from = 'now', type, follow, workspace, config: path }, io) => {
    const check: CheckArguments = ({ config, lists }) => {
      checkWorkspace(workspace, config);
      checkEventPatterns('--type', type ?? [], lists);
    };
    const use = async ({ feed }: CommandService): Promise<number> => {
      const signal = AbortSignal.any([io.signal, feed.redisGone]);
      for await (const { event } of feed.tail({ from, types: type, workspace, follow, signal })) {
        io.out(json ? JSON.stringify(event) : eventLine(event, { colours: io.colours.out, columns: io.columns }));
      }
      feed.redisGone.throwIfAborted();
      return 0;
    };
    return withFeed(io, path, use, check);
  },
});
