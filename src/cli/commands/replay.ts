import type { ReplayCall, Replayed } from '../../app/changefeed.js';
import { isoTime, systemClock } from '../../runtime/clock.js';
import { parseDuration } from '../../runtime/duration.js';
import { usage } from '../../errors.js';
import { workspaceOption } from '../arguments.js';
import { asText, defineFeedCommand, flag, option, type CommandService, type Read } from '../command.js';
import type { Io } from '../io.js';
import { count, fitted } from '../text.js';

const since: Read<string> = (text) => {
  const ms = parseDuration(text);
  return ms === undefined ? text : isoTime(systemClock.now() - ms);
};

/** Only fills the queue. If it is killed, the processes with the role `dispatch` send the rest. */
export const replay = defineFeedCommand({
  input: {
    subscription: option('name', 'the subscription', asText),
    snapshot: option('name', 'every record as it is now, to this subscription (after a backup was restored)', asText),
    from: option('offset', 'the first event: a log id, a time or "beginning"', asText),
    since: option('when', 'instead of --from: a duration (2h, 7d) or a time', since),
    to: option('id', 'a log id, the last one (default: as far as the subscription has read)', asText),
    record: option('id', 'only events of this record', asText),
    workspace: workspaceOption('only this workspace'),
    dryRun: flag('only count the events that would be sent'),
    json: flag('print the count as JSON'),
  },
  async run({ snapshot, ...call }, service, io) {
    if (snapshot === undefined) return await replayLog(call, service, io);
    const { subscription, from, since, to, record, dryRun, workspace, json = false } = call;
    if ([subscription, from, since, to, record, dryRun].some((one) => one !== undefined))
      throw usage('replay: --snapshot sends every record; only --workspace and --json go with it.');
    const workspaces = await service.feed.snapshot(snapshot, workspace);
    service.decided('snapshot', { subscription: snapshot, workspaces });
    if (json) io.out(JSON.stringify({ workspaces }));
    else io.out(fitted(snapshotText(snapshot, workspaces), io.columns));
    return 0;
  },
});

interface LogCall extends Partial<Omit<ReplayCall, 'signal'>> {
  since?: string;
  json?: boolean;
}

async function replayLog(
  { subscription, from, since: sinceTime, dryRun = false, json = false, ...call }: LogCall,
  { feed, decided }: CommandService,
  io: Io,
): Promise<number> {
  if (subscription === undefined) throw usage('replay: name the subscription with --subscription or --snapshot.');
  const first = from ?? sinceTime;
  if (first === undefined || (from !== undefined && sinceTime !== undefined))
    throw usage('replay: give either --from or --since; --from beginning sends the whole log.');
  const result = await feed.replay({ ...call, subscription, from: first, dryRun, signal: io.signal });
  if (!dryRun) decided('replay', { subscription, count: result.events });
  if (json) io.out(JSON.stringify(dryRun ? { ...result, dryRun } : result));
  else {
    const [what, end] = dryRun ? ['would be sent', '. Nothing was sent.'] : ['sent', endText(result)];
    io.out(fitted(`${count(result.events, 'event')} ${what} to "${subscription}" again${end}`, io.columns));
  }
  return result.interrupted ? 1 : 0;
}

function snapshotText(subscription: string, workspaces: readonly string[]): string {
  if (workspaces.length === 0) return `Nothing was stored yet that "${subscription}" could get.`;
  return `The running service sends every record of ${workspaces.join(', ')} to "${subscription}", each list once it has been swept.`;
}

function endText({ interrupted, reached }: Replayed): string {
  if (!interrupted) return '';
  const offsets = Object.entries(reached).map(([workspace, logId]) => `${workspace} up to ${logId}`);
  const far = offsets.length === 0 ? '' : ` (${offsets.join(', ')})`;
  return ` so far${far}; the running service, or the next one, sends the rest`;
}
