import { isError } from '../../observability/problems.js';
import { defineFeedCommand, flag } from '../command.js';
import { statusText } from '../print-status.js';

/** Only reads. */
export const status = defineFeedCommand({
  input: {
    json: flag('print it as JSON'),
    check: flag('exit with 1 when the feed does not poll, dispatch or handle as it should'),
  },
  async run({ json = false, check = false }, { feed }, io) {
    const now = await feed.status();
    io.out(json ? JSON.stringify(now, null, 2) : statusText(now, io.colours.out));
    return check && now.problems.some(isError) ? 1 : 0;
  },
});
