import { ROLES } from '../../app/changefeed.js';
import { openService, runService } from '../../app/process.js';
import { words } from '../arguments.js';
import { defineCommand, option } from '../command.js';
import { serviceScreen } from '../service-screen.js';

/** On a terminal, events are shown as lines. Elsewhere standard output has only what handlers write to it. */
export const start = defineCommand({
  input: { only: option('roles', `only these roles: ${ROLES.join(',')}`, words(...ROLES)) },
  async run({ only = ROLES, config: path }, io) {
    const screen = io.columns === undefined ? null : serviceScreen(io);
    const shown = screen !== null && { adapt: screen.adapt, showsEvents: true };
    const service = await openService(io, { path, ...shown });
    await runService(service, {
      roles: only,
      signal: io.signal,
      onReload: (reload) => io.onHangUp(reload),
      ...(screen && {
        onRunning: (signal) => screen.show(service.feed, { polls: only.includes('poll'), signal }),
      }),
    });
  },
});
