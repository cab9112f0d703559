import type { StoredSubscription } from '../../service/changefeed.js';
import { usage } from '../../kit/errors.js';
import { word } from '../arguments.js';
import { argument, asText, defineFeedCommand, flag, restArguments, type CommandService } from '../command.js';
import { isConfirmed } from '../confirm.js';
import type { Io } from '../io.js';
import { count, fitted, table } from '../text.js';

export const subscriptions = defineFeedCommand({
  input: {
    action: argument('list, forget, rename', word('list', 'forget', 'rename')),
    name: restArguments('forget: its name; rename: the former and the new name', asText),
    dryRun: flag('forget: only say what is stored'),
    yes: flag('forget: do not ask'),
    json: flag('print it as JSON; list: one line per subscription'),
  },
  async run({ action, name: names, dryRun = false, yes = false, json = false }, { feed, config, decided }, io) {
    if (action === 'list') {
      const configured = config.subscriptions.map(({ name }) => name);
      list(await feed.storedSubscriptions(), { configured, json }, io);
      return 0;
    }
    const [name, ...others] = names;
    if (action === 'rename') {
      const [to] = others;
      if (name === undefined || to === undefined || others.length > 1)
        throw usage('subscriptions rename: give the former and the new name.');
      const moved = await feed.renameSubscription(name, to);
      decided('subscriptions rename', { from: name, to, count: moved.waiting + moved.dead });
      const what = `${count(moved.waiting, 'waiting event')} and ${count(moved.dead, 'dead letter')}`;
      io.out(
        json
          ? JSON.stringify(moved)
          : fitted(`"${to}" has ${what} of "${name}", and reads the log from its offset.`, io.columns),
      );
      return 0;
    }
    if (name === undefined || others.length > 0)
      throw usage('subscriptions forget: give the name of one subscription; "subscriptions list" shows them.');
    return await forget({ feed, decided }, { name, dryRun, yes, json }, io);
  },
});

function list(
  stored: readonly StoredSubscription[],
  { configured, json }: { configured: readonly string[]; json: boolean },
  io: Io,
): void {
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
  { feed, decided }: Pick<CommandService, 'feed' | 'decided'>,
  { name, dryRun, yes, json }: { name: string; dryRun: boolean; yes: boolean; json: boolean },
  io: Io,
): Promise<number> {
  // Also before the question: what is refused need not be asked.
  const found = await feed.forgetSubscription(name, { dryRun: true });
  const what = `removes everything of the subscription "${name}" (${count(found.waiting, 'waiting event')}, ${count(found.dead, 'dead letter')})`;
  if (dryRun) {
    io.out(json ? JSON.stringify({ ...found, dryRun }) : fitted(`This ${what}. Nothing was changed.`, io.columns));
    return 0;
  }
  const question = { command: 'subscriptions forget', what: `This ${what}, which cannot be undone`, yes };
  if (!(await isConfirmed(question, io))) return 1;
  const forgotten = await feed.forgetSubscription(name);
  decided('subscriptions forget', { subscription: name, count: forgotten.keys });
  io.out(
    json
      ? JSON.stringify(forgotten)
      : fitted(`The subscription "${name}" is forgotten: ${count(forgotten.keys, 'key')} removed.`, io.columns),
  );
  return 0;
}
