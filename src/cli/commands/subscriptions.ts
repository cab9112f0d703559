/** What is stored of subscriptions. */
import { commandsNamed } from '../action-command.js';
import { defineFeedCommand, flag } from '../command.js';
import { table } from '../text.js';

const list = defineFeedCommand({
  byLastValid: true,
  input: { json: flag('one per line as JSON') },
  async run({ json = false }, { feed, config }, io) {
    const configured = config.subscriptions.map(({ name }) => name);
    const stored = await feed.storedSubscriptions();
    const known = stored.map((one) => ({ ...one, configured: configured.includes(one.subscription) }));
    if (json) for (const one of known) io.out(JSON.stringify(one));
    else if (known.length === 0) io.out('nothing is stored of any subscription');
    else {
      const rows = known.map((one) => {
        const isIn = one.configured ? 'yes' : io.colours.out.yellow('no');
        return [one.subscription, isIn, String(one.waiting), String(one.dead), String(one.workers)];
      });
      io.out(table(['subscription', 'configured', 'waiting', 'dead', 'processes'], rows, io.colours.out));
    }
  },
});

export const subscriptions = commandsNamed('subscriptions', {
  list: ['what is stored of each, also of those that the configuration no longer has', list],
});
