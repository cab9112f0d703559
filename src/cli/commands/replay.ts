import * as actions from '../../actions/subscriptions.js';
import type { ReplayCall, Replayed } from '../../delivery/act/replay.js';
import { isoTime, systemClock } from '../../kit/clock.js';
import { parseDuration } from '../../kit/duration.js';
import { usage } from '../../kit/errors.js';
import { typeOption, workspaceOption } from '../arguments.js';
import { asText, defineFeedCommand, flag, option, restArguments, type CommandService, type Read } from '../command.js';
import type { Conditions } from '../../delivery/handlers/where.js';
import type { Io } from '../io.js';
import { answer, say } from '../answers.js';
import { count } from '../text.js';

const since: Read<string> = (text) => {
  const ms = parseDuration(text);
  return ms === undefined ? text : isoTime(systemClock.now() - ms);
};

const asJson: Read<Conditions> = (text, name) => {
  try {
    return JSON.parse(text) as Conditions;
  } catch {
    throw usage(
      `${name}: found ${JSON.stringify(text)}; allowed: conditions in JSON, such as '{"after.유형":"전화"}'.`,
    );
  }
};

/** Only fills the queue. If it is killed, the processes with the role `dispatch` send the rest. */
export const replay = defineFeedCommand({
  input: {
    stop: restArguments('the word "stop", and which replay: stops what is being sent', asText, '[…]'),
    subscription: option('name', 'the subscription', asText),
    snapshot: option('name', 'every record as it is now, to this subscription (after a backup was restored)', asText),
    from: option('offset', 'the first event: a log id, a time or "beginning"', asText),
    since: option('when', 'instead of --from: a duration (2h, 7d) or a time', since),
    to: option('id', 'a log id, the last one (default: as far as the subscription has read)', asText),
    record: option('id', 'only events of this record', asText),
    type: typeOption('only these event types, separated by commas (* allowed)'),
    where: option('json', 'only events for which these conditions hold too, such as {"금액":{"rises":true}}', asJson),
    failed: flag('only events whose last delivery ended dead (not those that are dead letters now)'),
    workspace: workspaceOption('only this workspace'),
    dryRun: flag('only count the events that would be sent'),
    json: flag('print the count as JSON'),
  },
  async run({ stop, snapshot, ...call }, service, io) {
    if (stop.length > 0) return await stopReplay(stop, call, service, io);
    if (snapshot === undefined) return await replayLog(call, service, io);
    const { subscription, from, since, to, record, type, where, failed, dryRun, workspace, json = false } = call;
    if ([subscription, from, since, to, record, type, where, failed, dryRun].some((one) => one !== undefined))
      throw usage('replay: --snapshot sends every record; only --workspace and --json go with it.');
    const workspaces = await service.feed.snapshot(snapshot, workspace);
    await service.noted(actions.snapshot, { subscription: snapshot }, { count: workspaces.length });
    answer(io, json, { workspaces }, snapshotText(snapshot, workspaces));
    return 0;
  },
});

type LogCall = Partial<ReplayCall> & { since?: string; type?: string[]; json?: boolean };

async function replayLog(
  { subscription, from, since: sinceTime, type: types, dryRun = false, json = false, ...call }: LogCall,
  { feed, noted }: CommandService,
  io: Io,
): Promise<number> {
  if (subscription === undefined) throw usage('replay: name the subscription with --subscription or --snapshot.');
  const first = from ?? sinceTime;
  if (first === undefined || (from !== undefined && sinceTime !== undefined))
    throw usage('replay: give either --from or --since; --from beginning sends the whole log.');
  const screen = io.interactive && !dryRun ? io.live() : undefined;
  const onProgress = (sent: number): void => screen?.show([`${count(sent, 'event')} sent`]);
  const asked = { ...call, types, subscription, from: first, dryRun, onProgress, signal: io.signal };
  const result = await feed.replay(asked).finally(() => screen?.end());
  await noted(actions.replay, { subscription, dryRun }, { count: result.events });
  const [what, end] = dryRun ? ['would be sent', '. Nothing was sent.'] : ['sent', endText(result)];
  const text = `${count(result.events, 'event')} ${what} to "${subscription}" again${end}`;
  answer(io, json, dryRun ? { ...result, dryRun } : result, text);
  return result.interrupted ? 1 : 0;
}

async function stopReplay(
  [word, id, ...more]: readonly string[],
  { subscription, ...others }: LogCall,
  { feed, config, noted }: CommandService,
  io: Io,
): Promise<number> {
  const given = Object.values(others).filter((one) => one !== undefined);
  if (word !== 'stop' || more.length > 0 || given.length > 0)
    throw usage('replay stop: give the id of a replay, or --subscription; "status --json" shows the ids.');
  const names = subscription === undefined ? config.subscriptions.map(({ name }) => name) : [subscription];
  if (subscription === undefined && id === undefined)
    throw usage('replay stop: give the id of a replay, or --subscription.');
  let stopped = 0;
  for (const name of names) stopped += await feed.stopReplay(name, id);
  await noted(actions.stopReplay, { subscription }, { count: stopped });
  const text = 'stopped; what is in the queue already is delivered (changefeed skip drops it)';
  say(io, stopped === 0 ? 'no such replay is being sent' : text);
  return 0;
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
