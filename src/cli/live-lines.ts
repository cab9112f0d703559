/**
 * Lines rewritten in place at the bottom of a terminal. Whatever else is written meanwhile, to any of the streams that
 * end on that terminal, scrolls by above them: an event on standard output must not land in the middle of a bar.
 */

/** What is needed of a stream; `process.stderr` fits. */
export interface TerminalStream {
  isTTY?: boolean;
  columns?: number;
  write(chunk: string | Uint8Array, ...rest: never[]): boolean;
}

export interface LiveLines {
  /** Replaces what is shown. Lines wider than the terminal are cut: a wrapped one could not be taken back. */
  show(lines: readonly string[]): void;
  /** Takes the lines away and leaves the streams as they were. May be called twice. */
  end(): void;
}

const HIDE_CURSOR = '\u001b[?25l';
const SHOW_CURSOR = '\u001b[?25h';
const CLEAR_BELOW = '\u001b[J';

/** @param screen where the lines stand @param others streams that may end on the same terminal */
export function liveLines(screen: TerminalStream, others: readonly TerminalStream[]): LiveLines {
  const write = screen.write.bind(screen);
  const released = [screen, ...others.filter(({ isTTY }) => isTTY === true)].map(intercept);
  let lines: readonly string[] = [];
  let painted = 0;
  let ended = false;

  const erase = (): void => {
    if (painted > 0) write(`\u001b[${painted}A\r${CLEAR_BELOW}`);
    painted = 0;
  };
  const paint = (): void => {
    const width = (screen.columns ?? 80) - 1;
    erase();
    write(HIDE_CURSOR + lines.map((line) => `${line.slice(0, width)}\n`).join(''));
    painted = lines.length;
  };
  return {
    show(next) {
      if (ended) return;
      lines = next;
      paint();
    },
    end() {
      if (ended) return;
      ended = true;
      erase();
      write(SHOW_CURSOR);
      for (const release of released) release();
    },
  };

  /** Its writes go above the lines; gives what undoes that. */
  function intercept(stream: TerminalStream): () => void {
    const original = stream.write.bind(stream);
    stream.write = (chunk, ...rest) => {
      erase();
      const result = original(chunk, ...rest);
      // In mid-line there is no place for the lines; they come back with its end.
      if (endsLine(chunk) && lines.length > 0) paint();
      return result;
    };
    return () => (stream.write = original);
  }
}

function endsLine(chunk: string | Uint8Array): boolean {
  return typeof chunk === 'string' ? chunk.endsWith('\n') : chunk.at(-1) === 0x0a;
}
