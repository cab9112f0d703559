import type { Forgotten } from '../../app/changefeed.js';
import { ChangefeedError } from '../../errors.js';
import { openService } from '../../app/process.js';
import type { GlobalOptions, Io } from '../io.js';
import { count } from '../text.js';

export interface ForgetOptions extends GlobalOptions {
  args: [string];
  yes?: boolean;
  json?: boolean;
}

/** `changefeed forget <workspace>`: removes everything Redis keeps of it. For good, so a person says yes to it first. */
export async function forget({ args: [workspace], yes = false, json = false, config }: ForgetOptions, io: Io) {
  if (!yes && !(await isMeant(workspace, io))) {
    io.err('Nothing was removed.');
    return 1;
  }
  const { feed } = await openService(io, { path: config, quiet: true });
  try {
    const forgotten = await feed.forget(workspace);
    io.out(json ? JSON.stringify(forgotten) : forgottenText(forgotten));
  } finally {
    await feed.stop();
  }
  return 0;
}

async function isMeant(workspace: string, { ask }: Io): Promise<boolean> {
  if (ask === undefined) {
    throw new ChangefeedError('CF_USAGE', {
      message: `forget: this removes everything kept of workspace "${workspace}", for good. Say --yes where nobody can be asked.`,
    });
  }
  const question = `This removes everything kept of workspace "${workspace}", for good: records, log, dead letters. Type its name to go on: `;
  return (await ask(question)).trim() === workspace;
}

function forgottenText({ workspace, records, events, deliveries, keys }: Forgotten): string {
  const { waiting, handled, dead } = deliveries;
  if (keys + waiting + handled + dead === 0) return `Nothing is kept of a workspace "${workspace}".`;
  const what = [
    count(records, 'record'),
    `${count(events, 'event')} in the log`,
    `${count(waiting + handled, 'delivery', 'deliveries')} (${handled} handled, ${waiting} not)`,
    count(dead, 'dead letter'),
    count(keys, 'key'),
  ].join(', ');
  return `Workspace "${workspace}" is forgotten: ${what}. What handlers have delivered stays where it is.`;
}
