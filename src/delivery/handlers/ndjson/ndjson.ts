/** `ndjson`: every event as one line of JSON, to standard output or to a file. */
import { closeSync, constants, openSync } from 'node:fs';
import type { Writable } from 'node:stream';
import { z } from 'zod';
import { ChangefeedError, messageOf } from '../../../kit/errors.js';
import type { ChangeEvent } from '../../../events/types.js';
import { strictOptions, text, wholeNumber } from '../../../kit/schema/fields.js';
import type { Obstacle, Subscription } from '../handler.js';
import { defineKind } from '../kind.js';
import { subscriptionShape, toSubscription } from '../options.js';
import { fileSink, streamSink, type Sink } from './sinks.js';

const A_SIZE = "a size in quotes such as '512kB', '100MB' or '1GB'";
const UNIT_BYTES: Readonly<Record<string, number>> = { b: 1, kb: 1_000, mb: 1_000_000, gb: 1_000_000_000 };

const size = z
  .string({ error: A_SIZE })
  .transform((given) => {
    const [, amount, unit = ''] = /^(\d+(?:\.\d+)?)\s*([kmg]?b)$/i.exec(given.trim()) ?? [];
    return Math.round(Number(amount) * (UNIT_BYTES[unit.toLowerCase()] ?? Number.NaN));
  })
  .refine((bytes) => bytes > 0, { error: A_SIZE });

const rotateOptions = strictOptions({
  /** Before a file grows beyond this size, it is renamed to `<path>.1`: `'512kB'`, `'100MB'`, `'1GB'` (1 kB is 1000 bytes). */
  size,
  /** Number of renamed files that are kept. @defaultValue 5 */
  keep: wholeNumber(1, 1_000).default(5),
});

const ndjsonOptions = strictOptions({
  ...subscriptionShape,
  /** The file to append to. Its folder is created if it does not exist. @defaultValue standard output */
  path: text('the path of a file; leave it out for standard output').optional(),
  /** Rotates the file. Needs `path`, and only one process that runs the handler: two would rotate the same file. @defaultValue never */
  rotate: rotateOptions.optional(),
});

export const ndjsonSchema = ndjsonOptions.refine(({ rotate, path }) => rotate === undefined || path !== undefined, {
  path: ['rotate'],
  error: 'rotate only together with path (standard output has nothing to rotate)',
});

export type NdjsonOptions = z.input<typeof ndjsonSchema>;
type NdjsonSettings = z.output<typeof ndjsonSchema>;

/**
 * A subscription that writes each event as one line of JSON. A line that could not be written is a failed delivery and is
 * retried. A handled line has been passed to the operating system; after a clean stop it is on the disk.
 * @throws ChangefeedError `CF_CONFIG_INVALID`; its deliveries fail with `CF_WRITE_FAILED`
 */
export function ndjson(options: NdjsonOptions): Subscription {
  return ndjsonKind.inCode(options);
}

export const ndjsonKind = defineKind('ndjson', ndjsonSchema, (options) => createNdjson(options));

export function createNdjson(settings: NdjsonSettings, stdout: Writable = process.stdout): Subscription {
  const { path } = settings;
  const sink = path === undefined ? streamSink(stdout, 'standard output') : fileSink(path, settings.rotate);
  return toSubscription(settings, {
    handler: 'ndjson',
    handle: (event) => writeEvent(event, sink, settings.name),
    close: () => sink.close(),
    toStandardOutput: path === undefined,
    obstacle: path === undefined ? undefined : () => fileObstacle(path),
  });
}

async function writeEvent(event: ChangeEvent, sink: Sink, subscription: string): Promise<void> {
  try {
    await sink.write(`${JSON.stringify(event)}\n`);
  } catch (error) {
    const { reason, remedy } = obstacleOf(error);
    throw new ChangefeedError('CF_WRITE_FAILED', {
      message: `Ndjson "${subscription}": could not write to ${sink.target}: ${reason}; ${remedy}.`,
      subscription,
      cause: error,
    });
  }
}

/** The obstacle of a first write, seen before it. Creates nothing. */
function fileObstacle(path: string): Obstacle | null {
  try {
    closeSync(openSync(path, constants.O_RDWR | constants.O_NOFOLLOW));
    return null;
  } catch (error) {
    // The first event creates it.
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    const { reason, remedy } = obstacleOf(error);
    return { reason: `${path}: ${reason}`, remedy };
  }
}

function obstacleOf(error: unknown): Obstacle {
  switch ((error as NodeJS.ErrnoException).code) {
    case 'EPIPE':
    case 'ERR_STREAM_DESTROYED':
      return { reason: 'the reader has closed it', remedy: 'start again with a reader, or set a path' };
    case 'ENOSPC':
      return { reason: 'the disk is full', remedy: 'free space, and the event is tried again' };
    case 'EACCES':
    case 'EPERM':
    case 'EROFS':
      return { reason: 'permission denied', remedy: 'allow this process to write there, or change path' };
    case 'ELOOP':
      return { reason: 'it is a symbolic link', remedy: 'set path to the file itself' };
    case 'EISDIR':
      return { reason: 'it is a folder', remedy: 'change path to the name of a file' };
    default:
      return { reason: messageOf(error), remedy: 'the event is tried again' };
  }
}
