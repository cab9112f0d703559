/** Destinations for lines, written one after the other: a stream that we must not end (stdout), and a file. */
import { constants } from 'node:fs';
import { lstat, mkdir, open, rename, rm, type FileHandle } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { Writable } from 'node:stream';
import { Turns } from '../../../kit/turns.js';

export interface Sink {
  readonly target: string;
  /** Resolves when all lines are handed over; rejects if they could not be. `lines` ends with a newline. */
  write(lines: string): Promise<void>;
  /** Waits for writes in progress and closes; a later write opens the sink again. */
  close(): Promise<void>;
}

// `| head` makes the stream emit 'error', fatal without a listener. Each write gets the failure in its callback.
const ignore = (): void => undefined;

export function streamSink(stream: Writable, target: string): Sink {
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
export function fileSink(path: string, rotation?: { size: number; keep: number }): Sink {
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
