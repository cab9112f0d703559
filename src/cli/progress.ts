/** A progress bar per list on a terminal; a line per finished list anywhere else. Standard error only. */
import cliProgress from 'cli-progress';
import type { SweepProgress } from '../app.js';
import type { Io } from './io.js';

export interface ProgressView {
  show(progress: SweepProgress): void;
  stop(): void;
}

/** A first sweep's end is unknown: its bar shows what came so far and no share. */
export function progressView(io: Io): ProgressView {
  if (!io.interactive) return { show: () => undefined, stop: () => undefined };
  const bars = new Map<string, cliProgress.SingleBar>();
  const multi = new cliProgress.MultiBar(
    {
      format: '{label} {bar} {records} records, {pages} pages{share}',
      barCompleteChar: '█',
      barIncompleteChar: '░',
      barsize: 24,
      hideCursor: true,
      clearOnComplete: false,
      emptyOnZero: true,
      gracefulExit: false,
      stream: process.stderr,
    },
    cliProgress.Presets.shades_classic,
  );
  return {
    show({ workspace, list, mode, pages, records, expected }) {
      const known = expected !== null && expected > 0;
      const total = known ? Math.max(expected, records) : records + 50;
      const key = `${workspace}/${list}`;
      const bar = bars.get(key) ?? multi.create(total, 0, undefined);
      bars.set(key, bar);
      bar.setTotal(total);
      bar.update(records, {
        label: `${mode === 'baseline' ? 'baseline' : 'sweep   '} ${list.padEnd(12)}`,
        records: String(records),
        pages: String(pages),
        share: known ? `, ${Math.min(100, Math.floor((records / total) * 100))} %` : '',
      });
    },
    stop: () => multi.stop(),
  };
}
