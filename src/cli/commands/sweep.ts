import type { Changefeed, ListSweep } from '../../app/changefeed.js';
import { ChangefeedError, messageOf } from '../../errors.js';
import type { ListName } from '../../events/lists.js';
import { openService } from '../../app/process.js';
import { checkWorkspace } from '../arguments.js';
import type { GlobalOptions, Io } from '../io.js';
import { deadLetterTexts, eventsOf, incompleteText, sweepLines, unhandledText } from '../print-sweep.js';
import { progressView } from '../progress.js';

const FIVE_MINUTES_MS = 300_000;

export interface SweepOptions extends GlobalOptions {
  args: ListName[];
  workspace?: string;
  /** Ms. */
  timeout?: number;
  json?: boolean;
}

/** `changefeed sweep`: returns when every event found is handled or a dead letter; 1 when a list could not be completed. */
export async function sweep(options: SweepOptions, io: Io): Promise<number> {
  const { feed, config } = await openService(io, { path: options.config, quiet: true });
  try {
    checkWorkspace(options.workspace, config);
    return await sweepOnce(feed, options, io);
  } catch (error) {
    if (!io.signal.aborted) throw error;
    throw new ChangefeedError('CF_SWEEP_INCOMPLETE', {
      cause: error,
      message: `${messageOf(io.signal.reason)} What was read is kept, and the next sweep goes on where this one stopped.`,
    });
  } finally {
    await feed.stop();
  }
}

async function sweepOnce(
  feed: Changefeed,
  { args, workspace, timeout = FIVE_MINUTES_MS, json = false }: SweepOptions,
  io: Io,
): Promise<number> {
  const before = await feed.status();
  await feed.start(['dispatch', 'handle']);
  const sweeps = await readLists(feed, { lists: args.length === 0 ? undefined : args, workspace }, io);
  const waited = await feed.waitUntilHandled({ timeoutMs: timeout, signal: io.signal });
  const { subscriptions } = await feed.status();
  const unhandled = waited.outcome === 'timeout' ? waited.unhandled : [];
  // Standard output may be a handler's, and its last line is then ours; a person's summary stands beside it.
  if (json) io.out(JSON.stringify({ sweeps: sweeps.map(asData), unhandled }));
  else for (const line of sweepLines(sweeps, io.colours.err)) io.err(line);
  const complaints = [
    ...deadLetterTexts(before.subscriptions, subscriptions),
    ...(waited.outcome === 'timeout' ? [unhandledText(subscriptions, timeout)] : []),
    incompleteText(sweeps),
  ];
  for (const complaint of complaints) if (complaint !== undefined) io.err(complaint);
  return waited.outcome === 'timeout' || sweeps.some(({ outcome }) => outcome === 'incomplete') ? 1 : 0;
}

async function readLists(
  feed: Changefeed,
  call: { lists: readonly ListName[] | undefined; workspace: string | undefined },
  io: Io,
): Promise<ListSweep[]> {
  const progress = progressView(io);
  try {
    return await feed.sweep({ ...call, signal: io.signal, onProgress: (now) => progress.show(now) });
  } finally {
    progress.stop();
  }
}

function asData(one: ListSweep): object {
  const { workspace, list, outcome } = one;
  if (outcome === 'complete') return { workspace, list, outcome, events: eventsOf(one.summary), ...one.summary };
  const { error } = one;
  const [known, page] = error instanceof ChangefeedError ? [error, error.facts['page']] : [undefined, undefined];
  const cause = known?.cause instanceof ChangefeedError ? known.cause : known;
  return { workspace, list, outcome, page: page ?? null, code: cause?.code ?? null, error: messageOf(error) };
}
