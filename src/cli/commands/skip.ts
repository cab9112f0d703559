import type { Skipped } from '../../service/changefeed.js';
import { workspaceOption } from '../arguments.js';
import { argument, asText, defineFeedCommand, flag } from '../command.js';
import { isConfirmed } from '../confirm.js';
import { count, fitted } from '../text.js';

export const skip = defineFeedCommand({
  input: {
    subscription: argument('its name', asText),
    workspace: workspaceOption('only what waits of this workspace'),
    dryRun: flag('only say how many'),
    yes: flag('do not ask'),
    json: flag('print the counts as JSON'),
  },
  async run({ subscription, workspace, dryRun = false, yes = false, json = false }, { feed, decided }, io) {
    if (dryRun || !yes) {
      const waiting = await feed.skip(subscription, { workspace, dryRun: true });
      const what = `This drops ${skippedText(waiting)} for "${subscription}", which cannot be undone`;
      if (dryRun)
        io.out(json ? JSON.stringify({ ...waiting, dryRun }) : fitted(`${what}. Nothing was changed.`, io.columns));
      if (dryRun) return 0;
      if (!(await isConfirmed({ command: 'skip', what, yes }, io))) return 1;
    }
    const skipped = await feed.skip(subscription, { workspace });
    decided('skip', { subscription, workspace, count: skipped.unread + skipped.queued });
    const running = skipped.running === 0 ? '' : ` ${count(skipped.running, 'event')} being handled will end.`;
    const text = `${skippedText(skipped)} for "${subscription}" dropped.${running} Dead letters stay.`;
    io.out(json ? JSON.stringify(skipped) : fitted(text, io.columns));
    return 0;
  },
});

function skippedText({ unread, queued }: Skipped): string {
  return `${count(unread + queued, 'waiting event')} (${unread.toLocaleString('en')} not read from the log, ${queued.toLocaleString('en')} in the queue)`;
}
