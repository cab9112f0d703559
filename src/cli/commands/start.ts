import { ROLES } from '../../../workers/all.js';
import { runService } from '../../service/process.js';
import { wordsFor } from '../../words/words.js';
import { languageOf } from '../answers.js';
import { words } from '../arguments.js';
import { defineCommand, option } from '../command.js';
import { serviceScreen } from '../service-screen.js';

/** On a terminal, events are shown as lines. Elsewhere standard output has only what handlers write to it. */
export const start = defineCommand({
  input: { only: option('roles', `only these roles: ${ROLES.join(',')}`, words(...ROLES)) },
  async run({ only = ROLES, config: path }, io) {
    const screen = io.columns === undefined ? null : serviceScreen(io);
    try {
      await runService(io, {
        path,
        roles: only,
        signal: io.signal,
        onHangUp: (restart) => io.onHangUp(restart),
        ...(screen && { adapt: screen.adapt, showsEvents: true }),
        async onRunning({ feed, config }, signal) {
          // Only for the person at the terminal. Elsewhere it would be in a log; the line of the log names the file.
          if (feed.pageLink !== null && io.errorColumns !== undefined)
            io.err(wordsFor(languageOf(config, io.env)).t('start.page', { link: feed.pageLink }));
          await screen?.show(feed, { polls: only.includes('poll'), signal });
        },
      });
    } catch (error) {
      if (!io.signal.aborted || error !== io.signal.reason) throw error;
      // It has nothing to finish: its end is no failure.
      io.err('Stopped while the service was not running.');
    }
  },
});
