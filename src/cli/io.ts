/** A command's whole world: where it prints, what it may read, when it is asked to stop. Tests hand in their own. */
export interface Io {
  out(text: string): void;
  err(text: string): void;
  /** A person is watching standard error: progress bars are welcome. */
  readonly interactive: boolean;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly cwd: string;
  /** Aborts on SIGINT and SIGTERM. */
  readonly signal: AbortSignal;
}

export function processIo(): Io {
  const stopping = new AbortController();
  const stop = (name: NodeJS.Signals): void => {
    // A second Ctrl+C means now: the first one is being obeyed, but the person has no patience left.
    if (stopping.signal.aborted) process.exit(130);
    stopping.abort(new Error(`Stopped by ${name}.`));
  };
  process.on('SIGINT', stop);
  process.on('SIGTERM', stop);
  // `changefeed tail | head`: the reader has gone, which is no error of ours.
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code === 'EPIPE') process.exit(0);
    throw error;
  });
  return {
    out: (text) => void process.stdout.write(`${text}\n`),
    err: (text) => void process.stderr.write(`${text}\n`),
    interactive: process.stderr.isTTY,
    env: process.env,
    cwd: process.cwd(),
    signal: stopping.signal,
  };
}

/** What every command takes. */
export interface GlobalOptions {
  /** `--config`: the configuration file. */
  config?: string;
}
