import { argument, asText, defineFeedCommand, flag, option } from '../command.js';
import { fitted } from '../text.js';

export const pause = defineFeedCommand({
  input: {
    subscription: argument('its name', asText),
    reason: option('text', 'reason shown in "status" (default: paused manually)', asText),
    json: flag('print the outcome as JSON'),
  },
  async run({ subscription: name, reason, json = false }, { feed, decided }, io) {
    const paused = await feed.pause(name, reason);
    decided('pause', { subscription: name, count: Number(paused) });
    const text = paused ? `"${name}" is paused: its events wait until it is resumed` : `"${name}" was already paused`;
    io.out(json ? JSON.stringify({ subscription: name, paused }) : fitted(text, io.columns));
  },
});
