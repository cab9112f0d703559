import { isoTime, systemClock } from '../../kit/clock.js';
import { usage } from '../../kit/errors.js';
import { languageOf } from '../answers.js';
import { duration, httpUrl, typeOption, workspaceOption } from '../arguments.js';
import { asText, defineFeedCommand, flag, option } from '../command.js';
import { openForwarding } from '../forward.js';
import { wordsFor } from '../../words/words.js';

/** Only reads the log: the service has no subscription for it, and no queue. */
export const listen = defineFeedCommand({
  byLastValid: true,
  input: {
    forwardTo: option('url', 'where each event is posted, such as http://localhost:3000/hook', httpUrl),
    on: typeOption('only these event types, separated by commas (* allowed)', 'on'),
    last: option('duration', 'begin with the events of the last 1h, 7d … (default: with new ones)', duration),
    fromStart: flag('begin with the first event in the log'),
    secret: option(
      'secret',
      'whsec_…, which signs the events (default: CHANGEFEED_WEBHOOK_SECRET, or a new one, which is printed)',
      asText,
    ),
    workspace: workspaceOption('only this workspace'),
  },
  async run({ forwardTo: url, on: types, last, fromStart = false, secret, workspace }, { feed, config }, io) {
    if (url === undefined) throw usage('listen: name the address with --forward-to http://localhost:3000/hook.');
    if (fromStart && last !== undefined) throw usage('listen: give either --last or --from-start.');
    const since = last === undefined ? 'now' : isoTime(systemClock.now() - last);
    const language = languageOf(config, io.env);
    const receiver = openForwarding(url, secret, { ...io, language });
    try {
      const { processes } = await feed.status();
      if (!processes.some(({ roles }) => roles.includes('poll'))) io.err(wordsFor(language).t('listen.noPoll'));
      const events = feed.tail({ from: fromStart ? '0' : since, types, workspace, signal: io.signal });
      for await (const { event } of events) await receiver.send(event, feed.lists);
    } finally {
      await receiver.close();
    }
  },
});
