/** What a person decides about a subscription, and what is stored of subscriptions. */
import * as actions from '../../actions/subscriptions.js';
import { usage } from '../../kit/errors.js';
import { answer, isConfirmed } from '../answers.js';
import { word } from '../arguments.js';
import { argument, asText, defineFeedCommand, flag, restArguments, type CommandService } from '../command.js';
import { termOf } from '../terms.js';
import type { Io } from '../io.js';
import { count, printable, table } from '../text.js';

export const pause = defineFeedCommand({
  input: {
    subscription: termOf(actions.pause, 'subscription'),
    reason: termOf(actions.pause, 'reason'),
    json: flag('print the outcome as JSON'),
  },
  async run({ subscription: name, reason, json = false }, { feed, noted }, io) {
    const paused = await feed.pause(name, reason);
    await noted(actions.pause, { subscription: name }, { count: Number(paused) });
    const text = paused ? `"${name}" is paused: its events wait until it is resumed` : `"${name}" was already paused`;
    answer(io, json, { subscription: name, paused }, text);
  },
});

export const resume = defineFeedCommand({
  input: { subscription: termOf(actions.resume, 'subscription'), json: flag('print the outcome as JSON') },
  async run({ subscription: name, json = false }, { feed, noted }, io) {
    const was = await feed.resume(name);
    await noted(actions.resume, { subscription: name }, { count: Number(was !== null) });
    const text =
      was === null
        ? `"${name}" was not paused`
        : `"${name}" is resumed; it was paused at ${was.at}: ${printable(was.reason)}`;
    answer(io, json, { subscription: name, was }, text);
    if (!json && was?.missing === true)
      io.out(io.colours.out.red('Events that log.retention deleted in the meantime are lost to it.'));
  },
});

export const skip = defineFeedCommand({
  input: {
    subscription: termOf(actions.skip, 'subscription'),
    workspace: termOf(actions.skip, 'workspace'),
    dryRun: termOf(actions.skip, 'dryRun'),
    yes: flag('do not ask'),
    json: flag('print the counts as JSON'),
  },
  async run({ subscription, workspace, dryRun = false, yes = false, json = false }, { feed, noted }, io) {
    const waitText = ({ unread, queued }: { unread: number; queued: number }): string =>
      `${count(unread + queued, 'waiting event')} (${unread.toLocaleString('en')} not read from the log, ${queued.toLocaleString('en')} in the queue) for "${subscription}"`;
    if (dryRun || !yes) {
      const waiting = await feed.skip(subscription, { workspace, dryRun: true });
      const what = `This drops ${waitText(waiting)}, which cannot be undone`;
      if (dryRun) {
        answer(io, json, { ...waiting, dryRun }, `${what}. Nothing was changed.`);
        return 0;
      }
      if (!(await isConfirmed({ command: 'skip', what, yes }, io))) return 1;
    }
    const skipped = await feed.skip(subscription, { workspace });
    await noted(actions.skip, { subscription, workspace }, { count: skipped.unread + skipped.queued });
    const running = skipped.running === 0 ? '' : ` ${count(skipped.running, 'event')} being handled will end.`;
    answer(io, json, skipped, `${waitText(skipped)} dropped.${running} Dead letters stay.`);
    return 0;
  },
});

export const subscriptions = defineFeedCommand({
  input: {
    action: argument('list, forget', word('list', 'forget')),
    name: restArguments('forget: its name', asText),
    dryRun: flag('forget: only say what is stored'),
    yes: flag('forget: do not ask'),
    json: flag('print it as JSON; list: one line per subscription'),
  },
  async run({ action, name: names, dryRun = false, yes = false, json = false }, service, io) {
    if (action === 'list') {
      await list(service, json, io);
      return 0;
    }
    const [name, ...more] = names;
    if (name === undefined || more.length > 0)
      throw usage('subscriptions forget: give the name of one subscription; "subscriptions list" shows them.');
    return await forget(service, { name, dryRun, yes, json }, io);
  },
});

async function list({ feed, config }: CommandService, json: boolean, io: Io): Promise<void> {
  const configured = config.subscriptions.map(({ name }) => name);
  const stored = await feed.storedSubscriptions();
  const known = stored.map((one) => ({ ...one, configured: configured.includes(one.subscription) }));
  if (json) for (const one of known) io.out(JSON.stringify(one));
  else if (known.length === 0) io.out('nothing is stored of any subscription');
  else {
    const rows = known.map((one) => {
      const isIn = one.configured ? 'yes' : io.colours.out.yellow('no');
      return [one.subscription, isIn, String(one.waiting), String(one.dead), String(one.workers)];
    });
    io.out(table(['subscription', 'configured', 'waiting', 'dead', 'processes'], rows, io.colours.out));
  }
}

async function forget(
  { feed, noted }: CommandService,
  { name, dryRun, yes, json }: { name: string; dryRun: boolean; yes: boolean; json: boolean },
  io: Io,
): Promise<number> {
  // Also before the question: what is refused need not be asked.
  const found = await feed.forgetSubscription(name, { dryRun: true });
  const what = `This removes everything of the subscription "${name}" (${count(found.waiting, 'waiting event')}, ${count(found.dead, 'dead letter')})`;
  if (dryRun) {
    answer(io, json, { ...found, dryRun }, `${what}. Nothing was changed.`);
    return 0;
  }
  const question = { command: 'subscriptions forget', what: `${what}, which cannot be undone`, yes };
  if (!(await isConfirmed(question, io))) return 1;
  const forgotten = await feed.forgetSubscription(name);
  await noted(actions.forgetSubscription, { subscription: name }, forgotten);
  answer(io, json, forgotten, `The subscription "${name}" is forgotten: ${count(forgotten.keys, 'key')} removed.`);
  return 0;
}
