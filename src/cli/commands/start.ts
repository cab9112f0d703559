import { ROLES } from '../../app/changefeed.js';
import { openService, runService } from '../../app/process.js';
import { words } from '../arguments.js';
import { defineCommand, option } from '../command.js';
import type { Io } from '../io.js';
import { serviceScreen } from '../service-screen.js';

/** A service that is stopped before it runs has nothing to finish: its end is no failure. */
function unlessStopped(io: Io): (error: unknown) => undefined {
  return (error) => {
    if (!io.signal.aborted || error !== io.signal.reason) throw error;
    io.err('Stopped before Redis gave an answer; nothing was running yet.');
  };
}

/** On a terminal, events are shown as lines. Elsewhere standard output has only what handlers write to it. */
export const start = defineCommand({
  input: { only: option('roles', `only these roles: ${ROLES.join(',')}`, words(...ROLES)) },
  async run({ only = ROLES, config: path }, io) {
    const screen = io.columns === undefined ? null : serviceScreen(io);
    const shown = screen !== null && { adapt: screen.adapt, showsEvents: true };
    const service = await openService(io, { path, ...shown, signal: io.signal }).catch(unlessStopped(io));
    if (service === undefined) return;
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
