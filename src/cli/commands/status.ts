import { isError } from '../../observability/problems.js';
import { defineCommand, flag, withFeed } from '../command.js';
import { statusText } from '../print-status.js';

/** Only reads. */
export const status = defineCommand({
  name: 'status',
  description: 'problems, lists, freshness, budget, queues, dead letters, processes',
  input: {
    json: flag('print it as JSON'),
    check: flag('exit with 1 when the feed does not poll, dispatch or handle as it should'),
  },
  async run({ json = false, check = false, config }, io) {
    const now = await withFeed(io, config, ({ feed }) => feed.status());
    io.out(json ? JSON.stringify(now, null, 2) : statusText(now, io.colours.out));
    return check && now.problems.some(isError) ? 1 : 0;
  },
});
