/** Lines at the bottom of a terminal, rewritten in place; other output to the terminal appears above them. */

import { cut } from './text.js';

export interface TerminalStream {
  isTTY?: boolean;
  columns?: number;
  write(chunk: string | Uint8Array, ...rest: never[]): boolean;
}

export type LiveLines = ReturnType<typeof liveLines>;

const HIDE_CURSOR = '\u001b[?25l';
const SHOW_CURSOR = '\u001b[?25h';
const CLEAR_BELOW = '\u001b[J';

/** @param screen where the lines are shown @param others streams that may write to the same terminal */
export function liveLines(screen: TerminalStream, others: readonly TerminalStream[]) {
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
    write(HIDE_CURSOR + lines.map((line) => `${cut(line, width)}\n`).join(''));
    painted = lines.length;
  };
  return {
    /** Replaces the lines. Lines wider than the terminal are cut: a wrapped line could not be erased. */
    show(next: readonly string[]): void {
      if (ended) return;
      lines = next;
      paint();
    },
    /** Removes the lines and restores the streams. May be called twice. */
    end(): void {
      if (ended) return;
      ended = true;
      erase();
      write(SHOW_CURSOR);
      for (const release of released) release();
    },
  };

  function intercept(stream: TerminalStream): () => void {
    const original = stream.write.bind(stream);
    stream.write = (chunk, ...rest) => {
      erase();
      const result = original(chunk, ...rest);
      // The lines can only be shown below a complete line.
      const endsLine = typeof chunk === 'string' ? chunk.endsWith('\n') : chunk.at(-1) === 0x0a;
      if (endsLine && lines.length > 0) paint();
      return result;
    };
    return () => (stream.write = original);
  }
}
