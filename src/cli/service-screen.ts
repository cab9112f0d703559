/** `start` on a terminal, besides its log: progress of the first sweeps, what happens next, and each event. */
import type { Changefeed } from '../actions/feed.js';
import type { SweepProgress } from '../feed/list/list.js';
import type { Config } from '../config/schema.js';
import type { ChangeEvent } from '../events/types.js';
import type { ListStatus, Status } from '../ops/watch/status.js';
import { systemClock } from '../kit/clock.js';
import { formatsFor } from '../words/format.js';
import { wordsFor, type Language } from '../words/words.js';
import { languageOf, languageOfTerminal } from './answers.js';
import { printEvent } from './print-event.js';
import type { Io } from './io.js';
import { baselineText, nextSweepText } from './print-sweep.js';
import { progressView, type ProgressView } from './progress.js';

const PAUSE_MS = 1_000;

export function serviceScreen(io: Io) {
  let feed: Changefeed | undefined;
  let isPrinted = false;
  let language = languageOfTerminal(io.env);
  /** Up to where events are shown: over a restart, they continue there. */
  const shown = { to: `${systemClock.now()}-0` };
  const print = async (event: ChangeEvent): Promise<void> => {
    if (feed !== undefined) await printEvent(event, feed.lists, { ...io, language });
  };
  const printHandled = async (event: ChangeEvent): Promise<void> => {
    await print(event);
    shown.to = `${systemClock.now()}-0`;
  };
  const readable = (subscription: Config['subscriptions'][number]): typeof subscription => {
    const { toStandardOutput, transform } = subscription;
    // A transformed event has any form: it stays JSON.
    if (toStandardOutput !== true || transform !== undefined) return subscription;
    isPrinted = true;
    return { ...subscription, handle: printHandled };
  };
  return {
    /** Subscriptions that write JSON to standard output show readable lines instead. */
    adapt: (config: Config): Config => {
      isPrinted = false;
      language = languageOf(config, io.env);
      return { ...config, subscriptions: config.subscriptions.map(readable) };
    },
    async show(opened: Changefeed, { polls, signal }: { polls: boolean; signal: AbortSignal }): Promise<void> {
      feed = opened;
      await Promise.all([
        polls ? showBaseline(opened, { io, signal, language }) : undefined,
        // It would be shown twice.
        isPrinted ? undefined : followEvents(opened, print, { shown, signal }),
      ]);
    },
  };
}

/** While Redis is away, the service waits for it, and so do the lines. */
async function followEvents(
  feed: Changefeed,
  print: (event: ChangeEvent) => Promise<void>,
  { shown, signal }: { shown: { to: string }; signal: AbortSignal },
): Promise<void> {
  while (!signal.aborted) {
    try {
      for await (const { logId, event } of feed.tail({ from: shown.to, signal })) {
        shown.to = logId;
        // The service's own log shows problems of the feed.
        if (event.data.notice === undefined) await print(event);
      }
    } catch {
      await pause(signal);
    }
  }
}

interface Shown {
  io: Io;
  signal: AbortSignal;
  language: Language;
}

async function showBaseline(feed: Changefeed, { io, signal, language }: Shown): Promise<void> {
  const { t } = wordsFor(language);
  let progress: ProgressView | undefined;
  const first = new Set<string>();
  try {
    while (!signal.aborted) {
      const status = await feed.status().catch(() => null);
      if (status !== null) {
        const formats = formatsFor({ language, now: status.at });
        const lists = polledLists(status);
        const missing = lists.filter(({ baselineAt }) => baselineAt === null);
        if (missing.length === 0) {
          progress?.stop();
          const isNew = first.size > 0;
          io.err(
            `${baselineText(lists, { isNew, formats })} ${nextSweepText(lists, Date.parse(status.at), formats)}`.trim(),
          );
          return;
        }
        if (first.size === 0) io.err(t('sweep.begins'));
        for (const { key } of missing) first.add(key);
        progress ??= progressView(io, formats);
        for (const list of lists) if (first.has(list.key)) progress.show(progressOf(list));
      }
      await pause(signal);
    }
  } finally {
    progress?.stop();
  }
}

function polledLists({ workspaces }: Status): (ListStatus & { workspace: string; key: string })[] {
  return workspaces.flatMap(({ name, lists }) =>
    lists.filter(({ enabled }) => enabled).map((list) => ({ ...list, workspace: name, key: `${name}/${list.list}` })),
  );
}

function progressOf({
  workspace,
  list,
  records,
  baselineAt,
  sweeping,
  lastSweep,
}: ReturnType<typeof polledLists>[number]): SweepProgress {
  const done = baselineAt !== null;
  const read = done ? { pages: lastSweep?.pages ?? 0, records } : (sweeping ?? { pages: 0, records: 0 });
  return { workspace, list, mode: 'baseline', pages: read.pages, records: read.records, expected: null, done };
}

async function pause(signal: AbortSignal): Promise<void> {
  await systemClock.sleep(PAUSE_MS, signal).catch(() => undefined);
}
