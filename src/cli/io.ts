/** A command's whole world: where it prints, what it may read, when it is asked to stop. Tests hand in their own. */
import { createInterface } from 'node:readline/promises';
import { isatty } from 'node:tty';
import { messageOf } from '../errors.js';
import { type Colours, coloursFor } from './text.js';
import { liveLines, type LiveLines } from './live-lines.js';

export interface Io {
  out(text: string): void;
  err(text: string): void;
  /** A person is watching standard error: progress bars are welcome. */
  readonly interactive: boolean;
  readonly colours: { readonly out: Colours; readonly err: Colours };
  /** How wide a line on standard output may be; undefined when it is no terminal. */
  readonly columns: number | undefined;
  /** Lines at the bottom of standard error's terminal, until ended. Only where `interactive`. */
  live(): LiveLines;
  /** Asks a person; undefined where none can answer. Rejects when told to stop. */
  readonly ask: ((question: string) => Promise<string>) | undefined;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly cwd: string;
  /** Aborts on SIGINT, SIGTERM and SIGHUP, when the reader of standard output has gone, and when something broke. */
  readonly signal: AbortSignal;
  /** From here on SIGHUP is a request and does not end the command, unless its terminal has gone. */
  onHangUp(act: () => void): void;
}

export function processIo(): Io {
  const { stdin, stdout, stderr, env } = process;
  const { signal, onHangUp } = stopSignal();
  return {
    out: (text) => void stdout.write(`${text}\n`),
    err: (text) => void stderr.write(`${text}\n`),
    interactive: stderr.isTTY,
    colours: { out: coloursFor({ stream: stdout, env }), err: coloursFor({ stream: stderr, env }) },
    get columns() {
      return stdout.isTTY ? stdout.columns : undefined;
    },
    live: () => liveLines(stderr, [stdout]),
    ask: stdin.isTTY && stderr.isTTY ? (question) => ask(question, signal) : undefined,
    env,
    cwd: process.cwd(),
    signal,
    onHangUp,
  };
}

async function ask(question: string, signal: AbortSignal): Promise<string> {
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  // In raw mode Ctrl+C comes as a key, not as a signal.
  const interrupted = new AbortController();
  terminal.on('SIGINT', () => interrupted.abort(new Error('Stopped by SIGINT.')));
  terminal.on('close', () => interrupted.abort(new Error('Nobody answered.')));
  try {
    return await terminal.question(question, { signal: AbortSignal.any([signal, interrupted.signal]) });
  } finally {
    terminal.close();
  }
}

/** Whatever ends the process ends it in order: a Redis of our own is stopped with us, and no event is lost halfway. */
function stopSignal(): Pick<Io, 'signal' | 'onHangUp'> {
  const stopping = new AbortController();
  const stop = (name: NodeJS.Signals): void => {
    // A second Ctrl+C means now: the first one is being obeyed, but the person has no patience left.
    if (stopping.signal.aborted) process.exit(130);
    stopping.abort(new Error(`Stopped by ${name}.`));
  };
  const hadTerminal = isatty(process.stderr.fd);
  let hangUp: (() => void) | undefined;
  for (const name of ['SIGINT', 'SIGTERM'] as const) process.on(name, stop);
  process.on('SIGHUP', () => {
    // A terminal that was closed says so with the same signal, and is none any more.
    const terminalHasGone = hadTerminal && !isatty(process.stderr.fd);
    if (hangUp === undefined || terminalHasGone) stop('SIGHUP');
    else hangUp();
  });
  // `changefeed tail | head`: the reader has gone, which is no error of ours.
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') throw error;
    stopping.abort(new Error('Whoever read standard output has gone.'));
  });
  // Thrown where nobody waits for it: a handler's forgotten promise, most likely.
  process.on('uncaughtException', (error: unknown) => {
    const stack = process.env['LOG_LEVEL'] === 'debug' && error instanceof Error ? `\n${error.stack ?? ''}` : '';
    process.stderr.write(
      `changefeed: something failed outside of what is awaited (a promise that a handler forgot?): ${messageOf(error)} Stopping; nothing is lost. [CF_INTERNAL]${stack}\n`,
    );
    process.exitCode = 1;
    if (stopping.signal.aborted) process.exit(1);
    stopping.abort(error);
  });
  return { signal: stopping.signal, onHangUp: (act) => (hangUp = act) };
}

/** What every command takes. */
export interface GlobalOptions {
  /** `--config`: the configuration file. */
  config?: string;
}
