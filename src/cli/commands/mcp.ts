import { serveOnStdio } from '../../actions/assistant.js';
import { createFrame } from '../../ops/server/page/api.js';
import { defineFeedCommand, flag } from '../command.js';

/** Standard output belongs to the protocol. */
export const mcp = defineFeedCommand({
  byLastValid: true,
  input: {
    allowActing: flag('also let it pause and resume subscriptions, replay, and retry dead letters'),
  },
  async run({ allowActing = false }, { assistant }, io) {
    const { who, world, log } = assistant();
    const frame = createFrame(() => world.page.source.redisIsAway());
    const needed = 'start "changefeed mcp --allow-acting"';
    const asker = { caller: null, who: { ...who, how: 'mcp' }, turn: who.by, mayAct: allowActing, needed };
    await serveOnStdio({ asker, world, frame, log }, process, io.signal);
    await world.audit.flush();
    return undefined;
  },
});
