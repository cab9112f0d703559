import type { Changefeed } from '../../actions/feed.js';
import type { Config } from '../../config/schema.js';
import { messageOf } from '../../kit/errors.js';
import { isAborted, systemClock } from '../../kit/clock.js';
import { isError } from '../../ops/watch/problems.js';
import type { Status } from '../../ops/watch/status.js';
import { defineFeedCommand, flag } from '../command.js';
import type { Io } from '../io.js';
import { formatsOf } from '../answers.js';
import { statusText } from '../print-status.js';
import { count, cut } from '../text.js';

const REDRAW_MS = 2_000;

export const status = defineFeedCommand({
  byLastValid: true,
  input: {
    json: flag('print it as JSON; with --watch, a line each time'),
    check: flag('exit with 1 when the feed does not poll, dispatch or handle as it should'),
    watch: flag('show it again every 2 s until Ctrl+C'),
    verbose: flag('also what shortcuts found, and errors that are over'),
  },
  async run({ json = false, check = false, watch = false, verbose = false }, { feed, config }, io) {
    let now = await feed.status();
    if (!watch) io.out(json ? JSON.stringify(now, null, 2) : textOf(now, io, { verbose, config }));
    while (watch && !isAborted(io.signal)) {
      io.out(
        json ? JSON.stringify(now) : screen([now.at, '', ...textOf(now, io, { verbose, config }).split('\n')], io),
      );
      await systemClock.sleep(REDRAW_MS, io.signal).catch(() => undefined);
      now = await again(feed, now, io);
    }
    return check && now.problems.some(isError) ? 1 : 0;
  },
});

function textOf(
  now: Status,
  { colours, columns, env }: Io,
  { verbose, config }: { verbose: boolean; config: Config },
): string {
  return statusText(now, { colours: colours.out, columns, verbose, formats: formatsOf(config, env, now.at) });
}

/** While Redis is away the last answer stays, and the error is below it. */
async function again(feed: Changefeed, last: Status, io: Io): Promise<Status> {
  if (isAborted(io.signal)) return last;
  try {
    return await feed.status();
  } catch (error) {
    io.err(messageOf(error));
    return last;
  }
}

/** From the top left corner of a terminal, as many lines as it has, problems first. Elsewhere one after another. */
function screen(lines: readonly string[], { columns, rows }: Io): string {
  if (columns === undefined || rows === undefined) return [...lines, ''].join('\n');
  const HOME = '\u001b[H';
  const TO_THE_END_OF_THE_LINE = '\u001b[K';
  const TO_THE_END = '\u001b[J';
  const shown = fittingLines(lines, { columns, rows: rows - 1 });
  return `${HOME}${shown.map((line) => `${line}${TO_THE_END_OF_THE_LINE}`).join('\n')}${TO_THE_END}`;
}

/** The first lines, each as wide as the terminal at most; if not all fit, the last line shown says so. */
export function fittingLines(
  lines: readonly string[],
  { columns, rows }: { columns: number; rows: number },
): readonly string[] {
  if (lines.length <= rows) return lines;
  const shown = lines.slice(0, rows - 1);
  const hint = `… ${count(lines.length - shown.length, 'more line')}: make the terminal higher, or run changefeed status`;
  return [...shown, cut(hint, columns)];
}
