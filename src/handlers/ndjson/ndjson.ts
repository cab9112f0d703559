/** `ndjson`: every event as one line of JSON, to standard output or to a file. */
import type { Writable } from 'node:stream';
import { ChangefeedError, messageOf } from '../../errors.js';
import type { ChangeEvent } from '../../events/types.js';
import type { Subscription } from '../handler.js';
import { defineKind } from '../kind.js';
import { toSubscription } from '../options.js';
import { fileObstacle } from './file-obstacle.js';
import { fileSink } from './file-sink.js';
import { ndjsonSchema, type NdjsonOptions, type NdjsonSettings } from './options.js';
import { streamSink, type Sink } from './sink.js';

/**
 * A subscription that writes each event as one line of JSON. A line that could not be written is a failed delivery and is
 * retried. A handled line has been passed to the operating system; after a clean stop it is on the disk.
 * @throws ChangefeedError `CF_CONFIG_INVALID`; its deliveries fail with `CF_WRITE_FAILED`
 */
export function ndjson(options: NdjsonOptions): Subscription {
  return ndjsonKind.inCode(options);
}

export const ndjsonKind = defineKind('ndjson', ndjsonSchema, (options) => createNdjson(options));

/** @param stdout used if no path is set */
export function createNdjson(settings: NdjsonSettings, stdout: Writable = process.stdout): Subscription {
  const { path } = settings;
  const sink = path === undefined ? streamSink(stdout, 'standard output') : fileSink(path, settings.rotate);
  return toSubscription(settings, {
    handler: 'ndjson',
    handle: (event) => writeEvents([event], sink, settings.name),
    handleBatch: (events) => writeEvents(events, sink, settings.name),
    close: () => sink.close(),
    ...(path === undefined ? { toStandardOutput: true } : { obstacle: () => fileObstacle(path) }),
  });
}

async function writeEvents(events: readonly ChangeEvent[], sink: Sink, subscription: string): Promise<void> {
  try {
    await sink.write(events.map((event) => `${JSON.stringify(event)}\n`).join(''));
  } catch (error) {
    throw new ChangefeedError('CF_WRITE_FAILED', {
      message: `Ndjson "${subscription}": could not write to ${sink.target}: ${reasonOf(error)}`,
      subscription,
      cause: error,
    });
  }
}

function reasonOf(error: unknown): string {
  switch ((error as NodeJS.ErrnoException).code) {
    case 'EPIPE':
    case 'ERR_STREAM_DESTROYED':
      return 'the reader has closed it. Start again with a reader, or set a path.';
    case 'ENOSPC':
      return 'the disk is full. Free space; the event is tried again.';
    case 'EACCES':
    case 'EPERM':
    case 'EROFS':
      return 'permission denied. Allow this process to write there, or change path.';
    case 'ELOOP':
      return 'it is a symbolic link. Set path to the file itself.';
    case 'EISDIR':
      return 'it is a folder. Change path to the name of a file.';
    default:
      return `${messageOf(error)}. The event is tried again.`;
  }
}
