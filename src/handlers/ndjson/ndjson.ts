/** `ndjson`: every event as one line of JSON, to standard output or to a file. */
import type { Writable } from 'node:stream';
import { ChangefeedError, messageOf } from '../../errors.js';
import type { ChangeEvent } from '../../events/types.js';
import { parseOptions } from '../explain.js';
import type { Subscription } from '../handler.js';
import { defineKind } from '../kind.js';
import { toSubscription } from '../options.js';
import { fileSink } from './file-sink.js';
import { ndjsonSchema, type NdjsonOptions, type NdjsonSettings } from './options.js';
import type { Sink } from './sink.js';
import { streamSink } from './stream-sink.js';

/**
 * A subscription that writes each event as one line of JSON. A line that could not be written is a failed delivery and
 * tried again. Lines in a file are with the operating system once handled, and on the disk after a clean stop.
 * @throws ChangefeedError `CF_CONFIG_INVALID`; its deliveries fail with `CF_WRITE_FAILED`
 */
export function ndjson(options: NdjsonOptions): Subscription {
  return createNdjson(parseOptions(ndjsonSchema, options, { where: '', kind: 'ndjson' }));
}

export const ndjsonKind = defineKind('ndjson', ndjsonSchema, (options) => createNdjson(options));

/** @param stdout where lines go when no path is given */
export function createNdjson(settings: NdjsonSettings, stdout: Writable = process.stdout): Subscription {
  const sink =
    settings.path === undefined ? streamSink(stdout, 'standard output') : fileSink(settings.path, settings.rotate);
  return toSubscription(settings, {
    handler: 'ndjson',
    handle: (event) => writeEvents([event], sink, settings.name),
    handleBatch: (events) => writeEvents(events, sink, settings.name),
    close: () => sink.close(),
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
      return 'whoever read it has gone. Start again with a reader, or give the subscription a path.';
    case 'ENOSPC':
      return 'the disk is full. Make room; the event is tried again.';
    case 'EACCES':
    case 'EPERM':
    case 'EROFS':
      return 'not permitted. Give this process the right to write there, or change path.';
    case 'EISDIR':
      return 'it is a folder. Change path to the name of a file.';
    default:
      return `${messageOf(error)}. The event is tried again.`;
  }
}
