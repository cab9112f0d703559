import { argument, asText, defineFeedCommand, flag, option } from '../command.js';
import { fitted } from '../text.js';

export const disable = defineFeedCommand({
  input: {
    subscription: argument('its name', asText),
    reason: option('text', 'reason shown in "status" (default: disabled manually)', asText),
    json: flag('print the outcome as JSON'),
  },
  async run({ subscription: name, reason, json = false }, { feed, decided }, io) {
    const disabled = await feed.disable(name, reason);
    decided('disable', { subscription: name, count: Number(disabled) });
    const text = disabled
      ? `"${name}" is disabled: its events wait until it is enabled`
      : `"${name}" was already disabled`;
    io.out(json ? JSON.stringify({ subscription: name, disabled }) : fitted(text, io.columns));
  },
});
