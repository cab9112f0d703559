import { argument, asText, defineCommand, flag, option, withFeed } from '../command.js';

export const disable = defineCommand({
  name: 'disable',
  description: 'stop deliveries to a subscription until it is enabled',
  input: {
    subscription: argument('its name', asText),
    reason: option('text', 'reason shown in "status" (default: disabled manually)', asText),
    json: flag('print the outcome as JSON'),
  },
  async run({ subscription: name, reason, json = false, config }, io) {
    const disabled = await withFeed(io, config, ({ feed }) => feed.disable(name, reason));
    const text = disabled
      ? `"${name}" is disabled: its events wait until it is enabled`
      : `"${name}" was already disabled`;
    io.out(json ? JSON.stringify({ subscription: name, disabled }) : text);
    return 0;
  },
});
