/** `ndjson`: every event as one line of JSON, to standard output or to a file. */
import { closeSync, constants, openSync } from 'node:fs';
import { lstat, mkdir, open, rename, rm, type FileHandle } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { Writable } from 'node:stream';
import { z } from 'zod';
import { ChangefeedError, messageOf } from '../../../kit/errors.js';
import type { ChangeEvent } from '../../../events/types.js';
import { strictOptions, text, wholeNumber } from '../../../kit/schema/fields.js';
import { Turns } from '../../../kit/turns.js';
import type { Obstacle, Subscription } from '../handler.js';
import { defineKind } from '../kind.js';
import { subscriptionShape, toSubscription } from '../options.js';

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

/** Options of `ndjson`. */
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

/** A destination for lines, written one after the other: a stream that we must not end (stdout), or a file. */
interface Sink {
  readonly target: string;
  /** Resolves when all lines are handed over; rejects if they could not be. `lines` ends with a newline. */
  write(lines: string): Promise<void>;
  /** Waits for writes in progress and closes; a later write opens the sink again. */
  close(): Promise<void>;
}

// `| head` makes the stream emit 'error', fatal without a listener. Each write gets the failure in its callback.
const ignore = (): void => undefined;

function streamSink(stream: Writable, target: string): Sink {
  const turns = new Turns();
  // Waits for the stream, so that a slow reader slows the subscription instead of filling memory.
  const write = (lines: string): Promise<void> =>
    new Promise((resolve, reject) => {
      if (!stream.listeners('error').includes(ignore)) stream.on('error', ignore);
      stream.write(lines, (error) => (error ? reject(error) : resolve()));
    });
  return { target, write: (lines) => turns.take(target, () => write(lines)), close: () => turns.over() };
}

/** Opened at the first line: without events there is no file. Opened again after a failure, such as a full disk. */
function fileSink(path: string, rotation?: { size: number; keep: number }): Sink {
  let file: Awaited<ReturnType<typeof openForAppend>> | null = null;
  const turns = new Turns();

  async function append(line: string): Promise<void> {
    const bytes = Buffer.from(line, 'utf8');
    try {
      if (file !== null && !(await isAt(path, file))) await release();
      file ??= await openForAppend(path);
      if (rotation && file.size > 0 && file.size + bytes.length > rotation.size) {
        await release();
        await rotateFiles(path, rotation.keep);
        file = await openForAppend(path);
      }
      file.size += await writeWhole(file.handle, bytes);
    } catch (error) {
      // Opening the file again checks its end and terminates a line that was cut off here.
      await release().catch(() => undefined);
      throw error;
    }
  }

  async function release(): Promise<void> {
    const released = file;
    file = null;
    await released?.handle.close();
  }

  return {
    target: path,
    write: (line) => turns.take(path, () => append(line)),
    close: () =>
      turns.take(path, async () => {
        await file?.handle.sync();
        await release();
      }),
  };
}

/** Not through a symbolic link: in a folder where others may write, it could lead to any file of this user. */
const APPEND = constants.O_RDWR | constants.O_APPEND | constants.O_CREAT | constants.O_NOFOLLOW;

/** Events are people's data: only the owner may read a new file. */
async function openForAppend(path: string) {
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  const handle = await open(path, APPEND, 0o600);
  try {
    const { size, dev, ino } = await handle.stat();
    return { handle, dev, ino, size: size + (await endLine(handle, size)) };
  } catch (error) {
    await handle.close();
    throw error;
  }
}

/** False when logrotate or a person has moved or removed the file. */
async function isAt(path: string, { dev, ino }: { dev: number; ino: number }): Promise<boolean> {
  const named = await lstat(path).catch(() => null);
  return named?.dev === dev && named.ino === ino;
}

/** Terminates a line that a crash has cut off, so that the next line stays readable. */
async function endLine(handle: FileHandle, size: number): Promise<number> {
  if (size === 0) return 0;
  const { buffer, bytesRead } = await handle.read(Buffer.alloc(1), 0, 1, size - 1);
  return bytesRead === 0 || buffer[0] === 0x0a ? 0 : writeWhole(handle, Buffer.from('\n'));
}

/** Usually a single write, which the system appends as a whole even if other processes write to the same file. */
async function writeWhole(handle: FileHandle, bytes: Buffer): Promise<number> {
  for (let offset = 0; offset < bytes.length;) {
    const { bytesWritten } = await handle.write(bytes, offset);
    offset += bytesWritten;
  }
  return bytes.length;
}

/** `path` becomes `path.1`, `path.1` becomes `path.2` …; files beyond `keep` are removed. */
async function rotateFiles(path: string, keep: number): Promise<void> {
  await rm(`${path}.${keep}`, { force: true });
  for (let number = keep; number >= 1; number -= 1) {
    await renameIfThere(number === 1 ? path : `${path}.${number - 1}`, `${path}.${number}`);
  }
}

async function renameIfThere(from: string, to: string): Promise<void> {
  try {
    await rename(from, to);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
  }
}
