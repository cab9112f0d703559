/** A bar per list on a terminal while lists are being read; nothing anywhere else. It goes when the sweep is over. */
import cliProgress from 'cli-progress';
import type { SweepProgress } from '../app/changefeed.js';
import { systemClock } from '../runtime/clock.js';
import type { Io } from './io.js';
import { count } from './text.js';

export interface ProgressView {
  show(progress: SweepProgress): void;
  stop(): void;
}

const BAR_WIDTH = 24;
const BAR = {
  barsize: BAR_WIDTH,
  barGlue: '',
  barCompleteString: '█'.repeat(BAR_WIDTH),
  barIncompleteString: '░'.repeat(BAR_WIDTH),
};
/** Often enough to look alive; a fast server's every page would be too often. */
const REPAINT_MS = 50;

export function progressView(io: Pick<Io, 'interactive' | 'live'>): ProgressView {
  if (!io.interactive) return { show: () => undefined, stop: () => undefined };
  const screen = io.live();
  const bars = new Map<string, string>();
  let paintedAt = 0;
  return {
    show(progress) {
      bars.set(`${progress.workspace}/${progress.list}`, progressLine(progress));
      const now = systemClock.now();
      if (now - paintedAt < REPAINT_MS && !progress.done) return;
      paintedAt = now;
      screen.show([...bars.values()]);
    },
    stop: () => screen.end(),
  };
}

/** A first sweep's end is unknown: its bar shows what came so far and no share, until it is complete. */
export function progressLine({ list, mode, pages, records, expected, done }: SweepProgress): string {
  const known = expected !== null && expected > 0;
  const total = known ? Math.max(expected, records) : records + 50;
  const share = done ? 1 : records / total;
  // Its own type asks for every option there is; a bar needs these.
  const bar = cliProgress.Format.BarFormat(share, BAR);
  const percent = done || known ? `, ${Math.floor(share * 100)} %` : '';
  const label = `${mode === 'baseline' ? 'baseline' : 'sweep'.padEnd(8)} ${list.padEnd(12)}`;
  return `${label} ${bar} ${count(records, 'record')}, ${count(pages, 'page')}${percent}`;
}
