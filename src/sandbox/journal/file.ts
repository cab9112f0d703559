/** A journal as an NDJSON file, one line per fact, appended as it happens. */
import { createWriteStream } from 'node:fs';
import { finished } from 'node:stream/promises';
import { ChangefeedError, messageOf } from '../../errors.js';
import type { JournalLine } from './lines.js';

export interface JournalFile {
  write(line: JournalLine): void;
  /** Resolves when all of it is on disk. @throws ChangefeedError CF_UNAVAILABLE when it could not be written */
  close(): Promise<void>;
}

/** Starts the file anew: a journal tells one world's life from its beginning. */
export function openJournalFile(path: string): JournalFile {
  const stream = createWriteStream(path, { flags: 'w' });
  let failure: unknown;
  stream.on('error', (error) => (failure ??= error));
  return {
    write: (line) => void stream.write(`${JSON.stringify(line)}\n`),
    async close() {
      stream.end();
      await finished(stream).catch((error: unknown) => (failure ??= error));
      if (failure === undefined) return;
      const message = `The journal "${path}" could not be written: ${messageOf(failure)}. Check the directory and the disk.`;
      throw new ChangefeedError('CF_UNAVAILABLE', { message, cause: failure });
    },
  };
}
