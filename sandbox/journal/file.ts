/** Writes a journal to an NDJSON file while it grows. */
import { createWriteStream } from 'node:fs';
import { finished } from 'node:stream/promises';
import { ChangefeedError, messageOf } from '../../src/kit/errors.js';
import type { JournalLine } from './lines.js';

export type JournalFile = ReturnType<typeof openJournalFile>;

/** Overwrites an existing file: a journal belongs to one sandbox and starts with it. */
export function openJournalFile(path: string) {
  const stream = createWriteStream(path, { flags: 'w' });
  let failure: unknown;
  stream.on('error', (error) => (failure ??= error));
  return {
    write: (line: JournalLine): void => void stream.write(`${JSON.stringify(line)}\n`),
    /** Resolves when all lines are written. @throws ChangefeedError CF_UNAVAILABLE when that failed */
    async close(): Promise<void> {
      stream.end();
      await finished(stream).catch((error: unknown) => (failure ??= error));
      if (failure === undefined) return;
      const message = `The journal "${path}" could not be written: ${messageOf(failure)}. Check the directory and the disk.`;
      throw new ChangefeedError('CF_UNAVAILABLE', { message, cause: failure });
    },
  };
}
