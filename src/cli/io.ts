/** Everything a command gets from its process: output, input, environment, the signal to stop. Tests pass their own. */
import { createInterface } from 'node:readline/promises';
import { text } from 'node:stream/consumers';
import { Writable } from 'node:stream';
import { constants } from 'node:os';
import { isatty } from 'node:tty';
import { messageOf } from '../kit/errors.js';
import { partsOf } from '../delivery/handlers/errors.js';
import { systemClock, onAbort } from '../kit/clock.js';
import { formatDuration } from '../kit/duration.js';
import { untilNpmEnds } from '../kit/process-identity.js';
import { escapeInvisible } from '../kit/printable.js';
import { placeIn } from '../kit/user-frame.js';
import { type Colours, coloursFor, fitted } from './text.js';
import { liveLines, type LiveLines } from './live-lines.js';

export interface Io {
  out(text: string): void;
  /** Writes as it is, and resolves when the text has gone: what is exported is never all in memory. */
  write(text: string): Promise<void>;
  /** Sentences: on a terminal, lines that are too wide are continued between words. */
  err(text: string): void;
  /** Standard error is a terminal: progress bars are shown. */
  readonly interactive: boolean;
  readonly colours: { readonly out: Colours; readonly err: Colours };
  /** Width of standard output; undefined when it is not a terminal. */
  readonly columns: number | undefined;
  readonly errorColumns?: number | undefined;
  readonly rows?: number | undefined;
  /** Opens lines at the bottom of the terminal of standard error. Only if `interactive`. */
  live(): LiveLines;
  /** Undefined without a terminal. Rejects when the command is stopped. `hidden`: typing is not shown. */
  readonly ask: ((question: string, options?: { hidden?: boolean }) => Promise<string>) | undefined;
  readInput(): Promise<string>;
  /** The command adds the variables of `.env`. */
  readonly env: Record<string, string | undefined>;
  readonly cwd: string;
  /** Aborts on signals, when output cannot be written any more, when npm has ended, and on an uncaught error. */
  readonly signal: AbortSignal;
  /** From now on SIGHUP calls `act` instead of ending the command, unless its terminal was closed. */
  onHangUp(act: () => void): void;
}

export function processIo(): Io {
  const { stdin, stdout, stderr, env } = process;
  const { signal, onHangUp } = stopSignal();
  return {
    out: (text) => void stdout.write(`${escapeInvisible(text)}\n`),
    write: (text) =>
      new Promise((resolve) => {
        stdout.write(stdout.isTTY ? escapeInvisible(text) : text, () => resolve());
      }),
    err: (text) => void stderr.write(`${fitted(escapeInvisible(text), widthOfTerminal(stderr))}\n`),
    interactive: stderr.isTTY,
    colours: { out: coloursFor(stdout, env), err: coloursFor(stderr, env) },
    get columns() {
      return widthOfTerminal(stdout);
    },
    get errorColumns() {
      return widthOfTerminal(stderr);
    },
    get rows() {
      return stdout.isTTY ? stdout.rows : undefined;
    },
    live: () => liveLines(stderr, [stdout]),
    ask: stdin.isTTY && stderr.isTTY ? (question, options) => ask(question, { signal, ...options }) : undefined,
    readInput: () => text(stdin),
    env,
    cwd: process.cwd(),
    signal,
    onHangUp,
  };
}

function widthOfTerminal({ isTTY, columns }: NodeJS.WriteStream): number | undefined {
  return isTTY && columns > 0 ? columns : undefined;
}

async function ask(
  question: string,
  { signal, hidden = false }: { signal: AbortSignal; hidden?: boolean },
): Promise<string> {
  // While it is hidden, what is typed and every repaint of the line goes nowhere.
  const nowhere = new Writable({ write: (_chunk, _encoding, done) => done() });
  const terminal = createInterface({
    input: process.stdin,
    output: hidden ? nowhere : process.stderr,
    terminal: true,
  });
  if (hidden) process.stderr.write(question);
  // In raw mode Ctrl+C arrives as a key, not as a signal.
  const interrupted = new AbortController();
  terminal.on('SIGINT', () => interrupted.abort(new Error('Stopped by SIGINT.')));
  terminal.on('close', () => interrupted.abort(new Error('There was no answer.')));
  try {
    return await terminal.question(fitted(question, widthOfTerminal(process.stderr)), {
      signal: AbortSignal.any([signal, interrupted.signal]),
    });
  } catch (error) {
    if (!interrupted.signal.aborted && !signal.aborted) throw error;
    // The line of the question has no end yet.
    process.stderr.write('\n');
    const why = messageOf(signal.aborted ? signal.reason : interrupted.signal.reason);
    throw new Error(`${why} Nothing was changed.`, { cause: error });
  } finally {
    terminal.close();
    if (hidden) process.stderr.write('\n');
  }
}

/** The stop of a service takes at most 20 s, then some for its connections. Supervisors are set to wait 30 s. */
const STOP_LIMIT_MS = 25_000;

const PASSED_ON_WITHIN_MS = 1_000;

function endNow(reason: string, code: number): never {
  process.stderr.write(`changefeed: ${reason} Unfinished work is repeated after the next start. [CF_STOP_TIMEOUT]\n`);
  process.exit(code);
}

/** Signals and uncaught errors stop the command in order: a private Redis stops too and no event is lost. */
function stopSignal() {
  const stopping = new AbortController();
  let first: { name: NodeJS.Signals; at: number } | undefined;
  const stop = (name: NodeJS.Signals): void => {
    const now = systemClock.now();
    // A key pressed once arrives twice: npm passes on a Ctrl+C that the terminal has sent to both.
    const isPassedOn =
      process.env['npm_execpath'] !== undefined && name === first?.name && now - first.at < PASSED_ON_WITHIN_MS;
    if (isPassedOn) return;
    // The exit code as shells report it: 130 for SIGINT, 143 for SIGTERM.
    if (stopping.signal.aborted)
      endNow(`a second signal (${name}) ended the process at once.`, 128 + constants.signals[name]);
    first = { name, at: now };
    stopping.abort(new Error(`Stopped by ${name}.`));
  };
  const endLate = (): never => endNow(`the stop took longer than ${formatDuration(STOP_LIMIT_MS)}.`, 1);
  onAbort(stopping.signal, () => void systemClock.sleep(STOP_LIMIT_MS).then(endLate));
  // A service in the background of a terminal may have only its input from there.
  const terminals = [0, 1, 2].filter((fd) => isatty(fd));
  let hangUp: (() => void) | undefined;
  for (const name of ['SIGINT', 'SIGTERM'] as const) process.on(name, stop);
  process.on('SIGHUP', () => {
    // A closed terminal sends the same signal; it is then no longer a terminal.
    const terminalHasGone = terminals.some((fd) => !isatty(fd));
    // The shell of a terminal sends it again.
    if (stopping.signal.aborted) return;
    if (hangUp === undefined || terminalHasGone) stop('SIGHUP');
    else hangUp();
  });
  // `changefeed tail | head`: the reader has closed the pipe (EPIPE) or the terminal (EIO). The stop is silent.
  for (const [name, stream] of [
    ['output', process.stdout],
    ['error', process.stderr],
  ] as const)
    stream.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code !== 'EPIPE' && error.code !== 'EIO') throw error;
      stopping.abort(new Error(`The reader of standard ${name} has closed it.`));
    });
  void untilNpmEnds(process.env).then(() => stopping.abort(new Error('The npm that started the process has ended.')));
  // Most likely a promise that a handler does not await. Only the first error is reported.
  let isReported = false;
  process.on('uncaughtException', (error: unknown) => {
    process.exitCode = 1;
    if (isReported) return;
    isReported = true;
    const place = placeIn(error instanceof Error ? (error.stack ?? '') : '');
    const where = place === undefined ? '' : ` at ${place}`;
    const message = partsOf(error).known.replace(/[.!?]?$/, (end) => end || '.');
    const stack = process.env['LOG_LEVEL'] === 'debug' && error instanceof Error ? `\n${error.stack ?? ''}` : '';
    process.stderr.write(
      `changefeed: an error outside of any awaited call (a promise that a handler does not await?)${where}: ${message} Stopping; nothing is lost. [CF_HANDLER_UNCAUGHT]${stack}\n`,
    );
    stopping.abort(new Error('Stopped by the error above.', { cause: error }));
  });
  return { signal: stopping.signal, onHangUp: (act: () => void): void => void (hangUp = act) };
}
