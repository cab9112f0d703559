/** Destinations for lines: what they have in common, and streams that we must not end (standard output). Files: `file-sink.ts`. */
import type { Writable } from 'node:stream';

export interface Sink {
  /** For messages: `standard output`, or the file's path. */
  readonly target: string;
  /** Resolves when all lines are handed over; rejects if they could not be. `lines` ends with a newline. */
  write(lines: string): Promise<void>;
  /** Waits for writes in progress and closes; a later write opens the sink again. */
  close(): Promise<void>;
}

// A reader that goes away (`| head`) makes the stream emit 'error', which ends the process if there is no listener. Each
// write gets the failure in its own callback, so the listener does nothing.
const listening = new WeakSet<Writable>();

export function streamSink(stream: Writable, target: string): Sink {
  const pending = new Set<Promise<void>>();
  return {
    target,
    async write(line) {
      if (!listening.has(stream)) {
        listening.add(stream);
        stream.on('error', () => undefined);
      }
      const written = writeLine(stream, line);
      pending.add(written);
      try {
        await written;
      } finally {
        pending.delete(written);
      }
    },
    async close() {
      await Promise.allSettled(pending);
    },
  };
}

/** Waits until the stream has passed the line on, so that a slow reader slows the subscription instead of filling memory. */
function writeLine(stream: Writable, line: string): Promise<void> {
  return new Promise((resolve, reject) => {
    stream.write(line, (error) => {
      if (error) reject(error);
      else resolve();
    });
  });
}
