/** A bar per list on a terminal while lists are read. The bars disappear when the sweep is over. */
import type { SweepProgress } from '../feed/list/list.js';
import { systemClock } from '../kit/clock.js';
import type { Formats } from '../words/format.js';
import { wordsFor } from '../words/words.js';
import type { Io } from './io.js';
import { padded } from './text.js';

export type ProgressView = ReturnType<typeof progressView>;

/** Often enough for the eye; a fast server answers far more often than that. */
const REPAINT_MS = 50;
/** A rate over a shorter time says nothing. */
const FIRST_RATE_MS = 2_000;
const NARROW_COLUMNS = 110;

export function progressView(io: Io, formats: Formats) {
  if (!io.interactive) return { show: (_: SweepProgress) => undefined, stop: () => undefined };
  const screen = io.live();
  const bars = new Map<string, { line: string; startedAt: number; firstRecords: number }>();
  let paintedAt = 0;
  return {
    show(progress: SweepProgress): void {
      const key = `${progress.workspace}/${progress.list}`;
      const now = systemClock.now();
      // A sweep that continues an interrupted one begins with records that were not read now.
      const { startedAt, firstRecords } = bars.get(key) ?? { startedAt: now, firstRecords: progress.records };
      const timing = { elapsedMs: now - startedAt, read: progress.records - firstRecords };
      bars.set(key, {
        line: progressLine(progress, timing, { columns: io.columns, formats }),
        startedAt,
        firstRecords,
      });
      if (now - paintedAt < REPAINT_MS && !progress.done) return;
      paintedAt = now;
      screen.show([...bars.values()].map(({ line }) => line));
    },
    stop: () => screen.end(),
  };
}

/** The size of a list is unknown in its first sweep: the bar then moves without a percentage. */
export function progressLine(
  { list, mode, pages, records, expected, done }: SweepProgress,
  { elapsedMs, read }: { elapsedMs: number; read: number },
  { columns = Infinity, formats }: { columns?: number | undefined; formats: Formats },
): string {
  const { t } = wordsFor(formats.language);
  const whole = (ms: number): string => formats.duration(Math.max(1, Math.round(ms / 1_000)) * 1_000);
  const isNarrow = columns < NARROW_COLUMNS;
  const barWidth = isNarrow ? 12 : 24;
  const known = expected !== null && expected > 0;
  const total = known ? Math.max(expected, records) : records + 50;
  const share = done ? 1 : records / total;
  const filled = Math.round(share * barWidth);
  const perSecond = elapsedMs < FIRST_RATE_MS ? 0 : (read * 1_000) / elapsedMs;
  const leftMs = ((total - records) * 1_000) / perSecond;
  const parts = [
    t('sweep.records', { count: formats.number(records) }),
    ...(isNarrow ? [] : [t('sweep.pages', { count: formats.number(pages) })]),
    ...(done || known ? [`${Math.floor(share * 100)} %`] : []),
    ...(perSecond > 0 && !done ? [t('sweep.rate', { count: formats.number(Math.round(perSecond)) })] : []),
    ...(elapsedMs >= FIRST_RATE_MS ? [whole(elapsedMs)] : []),
    ...(perSecond > 0 && known && !done ? [t('sweep.left', { time: whole(leftMs) })] : []),
  ];
  const what = padded(t(mode === 'baseline' ? 'sweep.baseline' : 'sweep.sweep'), 8);
  return `${what} ${list.padEnd(12)} ${'█'.repeat(filled)}${'░'.repeat(barWidth - filled)} ${parts.join(', ')}`;
}
