/** A bar per list on a terminal while lists are read; no output elsewhere. The bars disappear when the sweep is over. */
import type { SweepProgress } from '../app/changefeed.js';
import { systemClock } from '../runtime/clock.js';
import type { Io } from './io.js';
import { count } from './text.js';

export interface ProgressView {
  show(progress: SweepProgress): void;
  stop(): void;
}

const BAR_WIDTH = 24;
/** Often enough for the eye; a fast server answers far more often than that. */
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

/** The size of a list is unknown in its first sweep: the bar then moves, without a percentage until the list is complete. */
export function progressLine({ list, mode, pages, records, expected, done }: SweepProgress): string {
  const known = expected !== null && expected > 0;
  const total = known ? Math.max(expected, records) : records + 50;
  const share = done ? 1 : records / total;
  const filled = Math.round(share * BAR_WIDTH);
  const percent = done || known ? `, ${Math.floor(share * 100)} %` : '';
  const label = `${mode === 'baseline' ? 'baseline' : 'sweep'.padEnd(8)} ${list.padEnd(12)}`;
  const bar = '█'.repeat(filled) + '░'.repeat(BAR_WIDTH - filled);
  return `${label} ${bar} ${count(records, 'record')}, ${count(pages, 'page')}${percent}`;
}
