/** `ndjson`: every event as one line of JSON, to standard output or to a file. */
import { closeSync, constants, openSync } from 'node:fs';
import { mkdir, open, type FileHandle } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { Writable } from 'node:stream';
import type { z } from 'zod';
import { systemClock } from '../../../kit/clock.js';
import { messageOf } from '../../../kit/errors.js';
import { text } from '../../../kit/schema/fields.js';
import { Turns } from '../../../kit/turns.js';
import type { Obstacle } from '../handler.js';
import { defineKind, kindOptions, type OpenedKind } from '../kind.js';

export const ndjsonSchema = kindOptions({
  /** The file to append to, opened for each event: it may be moved at any time. Its folder is created if it does not exist. @defaultValue standard output */
  path: text('the path of a file; leave it out for standard output').optional(),
});

/** Options of `ndjson`. */
export type NdjsonOptions = z.input<typeof ndjsonSchema>;
type NdjsonSettings = z.output<typeof ndjsonSchema>;

/**
 * A subscription that writes each event as one line of JSON. A line that could not be written is a failed delivery and is
 * retried. A handled line has been passed to the operating system.
 * @throws ChangefeedError `CF_CONFIG_INVALID`; its deliveries fail with `CF_WRITE_FAILED`
 */
export const ndjson = defineKind({
  name: 'ndjson',
  words: { en: 'file', ko: '파일' },
  options: ndjsonSchema,
  open: (settings) => openNdjson(settings),
});

export function openNdjson({ path }: NdjsonSettings, stdout: Writable = process.stdout): OpenedKind {
  const sink = path === undefined ? streamSink(stdout, 'standard output') : fileSink(path);
  return {
    deliver: (event) => sink.write(`${JSON.stringify(event)}\n`),
    failure(cause) {
      const { reason, remedy } = obstacleOf(cause);
      return { code: 'CF_WRITE_FAILED', message: `could not write to ${sink.target}: ${reason}; ${remedy}.`, cause };
    },
    close: () => sink.close(),
    toStandardOutput: path === undefined,
    obstacle: path === undefined ? undefined : () => fileObstacle(path),
  };
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
  /** Resolves when the line is handed over; rejects if it could not be. It ends with a newline. */
  write(line: string): Promise<void>;
  /** Waits for writes in progress. */
  close(): Promise<void>;
}

// `| head` makes the stream emit 'error', fatal without a listener. Each write gets the failure in its callback.
const ignore = (): void => undefined;

function streamSink(stream: Writable, target: string): Sink {
  const turns = new Turns();
  // Waits for the stream, so that a slow reader slows the subscription instead of filling memory.
  const write = (line: string): Promise<void> =>
    new Promise((resolve, reject) => {
      if (!stream.listeners('error').includes(ignore)) stream.on('error', ignore);
      stream.write(line, (error) => (error ? reject(error) : resolve()));
    });
  return { target, write: (line) => turns.take(target, () => write(line)), close: () => turns.over() };
}

/** Opened for each line, so that logrotate or a person can move or remove it at any time. Without events there is no file. */
function fileSink(path: string): Sink {
  const turns = new Turns();
  return {
    target: path,
    write: (line) => turns.take(path, () => appendLine(path, line)),
    close: () => turns.over(),
  };
}

/** Not through a symbolic link: in a folder where others may write, it could lead to any file of this user. */
const APPEND = constants.O_RDWR | constants.O_APPEND | constants.O_CREAT | constants.O_NOFOLLOW;

const LINE_END = 0x0a;

/** Events are people's data: only the owner may read a new file. */
async function appendLine(path: string, line: string): Promise<void> {
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  const handle = await open(path, APPEND, 0o600);
  try {
    await endLine(handle);
    await writeWhole(handle, Buffer.from(line, 'utf8'));
  } finally {
    await handle.close();
  }
}

/** While another process writes, its line grows page by page. */
const GROWS_MS = 20;

/** Terminates a line that a crash or a full disk has cut off, so that the next line stays readable. */
async function endLine(handle: FileHandle): Promise<void> {
  for (let before = -1; ;) {
    const { size } = await handle.stat();
    if (size === 0) return;
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(1), 0, 1, size - 1);
    if (bytesRead !== 1 || buffer[0] === LINE_END) return;
    if (size === before) {
      await writeWhole(handle, Buffer.of(LINE_END));
      return;
    }
    before = size;
    await systemClock.sleep(GROWS_MS);
  }
}

/** Usually a single write, which the system appends as a whole even if other processes write to the same file. */
async function writeWhole(handle: FileHandle, bytes: Buffer): Promise<void> {
  for (let offset = 0; offset < bytes.length;) {
    const { bytesWritten } = await handle.write(bytes, offset);
    offset += bytesWritten;
  }
}
