import type { Changefeed } from '../../actions/feed.js';
import type { ListSweep } from '../../../workers/sweeps.js';
import { ChangefeedError, messageOf } from '../../kit/errors.js';
import { isoTime, systemClock } from '../../kit/clock.js';
import type { Formats } from '../../words/format.js';
import { LIST_NAMES, type ListName } from '../../crm/lists/lists.js';
import { duration, listArguments, workspaceOption } from '../arguments.js';
import { defineFeedCommand, flag, option } from '../command.js';
import type { Io } from '../io.js';
import {
  afterBaselineText,
  deadLetterTexts,
  eventCount,
  incompleteText,
  stopOf,
  sweepLines,
  unhandledText,
} from '../print-sweep.js';
import { formatsOf } from '../answers.js';
import { progressView } from '../progress.js';

const FIVE_MINUTES_MS = 300_000;

/** Ends when every event found is handled or a dead letter. Exits with 1 when a list or an event failed. */
export const sweep = defineFeedCommand({
  input: {
    lists: listArguments(`lists to sweep: ${LIST_NAMES.join(', ')} (default: all enabled lists)`),
    workspace: workspaceOption('only this workspace'),
    timeout: option('duration', 'longest wait for the events to be handled (default: 5m)', duration),
    json: flag('print the summary as one line of JSON on standard output'),
  },
  async run({ lists, workspace, timeout = FIVE_MINUTES_MS, json = false }, { feed, config }, io) {
    const formats = formatsOf(config, io.env, isoTime(systemClock.now()));
    try {
      return await sweepOnce(feed, { lists, workspace, timeoutMs: timeout, json, formats }, io);
    } catch (error) {
      if (!io.signal.aborted) throw error;
      throw new ChangefeedError('CF_SWEEP_INCOMPLETE', {
        cause: error,
        message: `${messageOf(io.signal.reason)} What was read is kept; the next sweep continues where this one stopped.`,
      });
    }
  },
});

interface SweepCall {
  lists: readonly ListName[];
  workspace: string | undefined;
  timeoutMs: number;
  json: boolean;
  formats: Formats;
}

async function sweepOnce(feed: Changefeed, call: SweepCall, io: Io): Promise<number> {
  const { lists, workspace, timeoutMs, json, formats } = call;
  const before = await feed.status();
  await feed.start(['dispatch', 'handle']);
  const sweeps = await readLists(feed, { lists: lists.length === 0 ? undefined : lists, workspace, formats }, io);
  const waited = await feed.waitUntilHandled({ timeoutMs, signal: io.signal });
  const { subscriptions } = await feed.status();
  const unhandled = waited.outcome === 'timeout' ? waited.unhandled : [];
  // A handler may write to standard output: with --json the summary is its last line.
  if (json) io.out(JSON.stringify({ sweeps: sweeps.map(asData), unhandled }));
  else for (const line of sweepLines(sweeps, io.colours.err, formats)) io.err(line);
  const next = json ? undefined : afterBaselineText(sweeps, formats);
  if (next !== undefined) io.err(next);
  const dead = deadLetterTexts(before.subscriptions, subscriptions);
  const complaints = [
    ...dead,
    ...(waited.outcome === 'timeout' ? [unhandledText(subscriptions, timeoutMs)] : []),
    incompleteText(sweeps),
  ];
  for (const complaint of complaints) if (complaint !== undefined) io.err(complaint);
  const isHandled = waited.outcome !== 'timeout' && dead.length === 0;
  return !isHandled || sweeps.some(({ outcome }) => outcome === 'incomplete') ? 1 : 0;
}

async function readLists(
  feed: Changefeed,
  { formats, ...call }: { lists: readonly ListName[] | undefined; workspace: string | undefined; formats: Formats },
  io: Io,
): Promise<ListSweep[]> {
  const progress = progressView(io, formats);
  try {
    return await feed.sweep({ ...call, signal: io.signal, onProgress: (now) => progress.show(now) });
  } finally {
    progress.stop();
  }
}

function asData(one: ListSweep): object {
  const { workspace, list, outcome } = one;
  if (outcome === 'complete') return { workspace, list, outcome, events: eventCount(one.summary), ...one.summary };
  const { page, code } = stopOf(one);
  return { workspace, list, outcome, page, code, error: messageOf(one.error) };
}
