import { argument, asText, defineFeedCommand, flag } from '../command.js';
import { fitted, printable } from '../text.js';

export const resume = defineFeedCommand({
  input: {
    subscription: argument('its name', asText),
    json: flag('print the outcome as JSON'),
  },
  async run({ subscription: name, json = false }, { feed, decided }, io) {
    const was = await feed.resume(name);
    decided('resume', { subscription: name, count: Number(was !== null) });
    if (json) io.out(JSON.stringify({ subscription: name, was }));
    else if (was === null) io.out(`"${name}" was not paused`);
    else {
      io.out(fitted(`"${name}" is resumed; it was paused at ${was.at}: ${printable(was.reason)}`, io.columns));
      if (was.missing) io.out(io.colours.out.red('Events that log.retention deleted in the meantime are lost to it.'));
    }
  },
});
