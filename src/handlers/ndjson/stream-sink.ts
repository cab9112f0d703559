/** Lines to a stream that is not ours to end: standard output. */
import type { Writable } from 'node:stream';
import type { Sink } from './sink.js';

// A reader that goes away (`| head`) makes the stream emit 'error', which without a listener ends the process. Each
// write learns of the failure by its own callback, so the event itself needs no more than somebody listening.
const listening = new WeakSet<Writable>();

export function streamSink(stream: Writable, target: string): Sink {
  const underWay = new Set<Promise<void>>();
  return {
    target,
    async write(line) {
      if (!listening.has(stream)) {
        listening.add(stream);
        stream.on('error', () => undefined);
      }
      const written = writeLine(stream, line);
      underWay.add(written);
      try {
        await written;
      } finally {
        underWay.delete(written);
      }
    },
    async close() {
      await Promise.allSettled(underWay);
    },
  };
}

/** Waits until the stream has passed the line on: a slow reader slows the subscription instead of filling memory. */
function writeLine(stream: Writable, line: string): Promise<void> {
  return new Promise((resolve, reject) => {
    stream.write(line, (error) => {
      if (error) reject(error);
      else resolve();
    });
  });
}
