import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout } from 'node:timers/promises';
import { appendFile, mkdir, readFile, readdir, rename, rm, stat, symlink, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Writable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { beforeEach, describe, expect, it } from 'vitest';
import type { Subscription } from '../../../src/delivery/handlers/handler.js';
import { ndjson, ndjsonSchema, openNdjson, type NdjsonOptions } from '../../../src/delivery/handlers/ndjson/ndjson.js';
import { testFolder } from '../../support/folder.js';
import { handlerContext, sampleEvent } from '../../support/handler-fixtures.js';

const child = new URL('../../support/ndjson-child.ts', import.meta.url);
let folder = '';
let path = '';
beforeEach(() => {
  folder = testFolder();
  path = join(folder, 'events.ndjson');
});

async function send(subscription: Subscription, ...subjects: string[]): Promise<void> {
  await Promise.all(subjects.map(async (subject) => subscription.handle(sampleEvent(subject), handlerContext())));
}

/** To the file of the test, unless the options name another one. */
async function write(options: Partial<NdjsonOptions>, ...subjects: string[]): Promise<void> {
  const subscription = ndjson({ name: 'out', path, ...options });
  await send(subscription, ...subjects);
  await subscription.close?.();
}

async function subjectsIn(path: string): Promise<string[]> {
  const lines = (await readFile(path, 'utf8')).split('\n');
  expect(lines.pop()).toBe('');
  return lines.map((line) => (JSON.parse(line) as { subject: string }).subject);
}

describe('ndjson: a file', () => {
  it('ndjson: writes each event as one line and creates the folder', async () => {
    const made = join(folder, 'made/here/events.ndjson');
    await write({ path: made }, 'a');
    expect(JSON.parse(await readFile(made, 'utf8'))).toEqual(sampleEvent('a'));
  });

  it('ndjson: only the owner can read what it creates, whatever the umask', async () => {
    const umask = process.umask(0);
    try {
      const made = [join(folder, 'made/events.ndjson'), join(folder, 'made')];
      await write({ path: made[0] }, 'a');
      const modes = await Promise.all(made.map(async (one) => (await stat(one)).mode & 0o777));
      expect(modes).toEqual([0o600, 0o700]);
    } finally {
      process.umask(umask);
    }
  });

  it('ndjson: what keeps it from writing is seen before the first event', async () => {
    await writeFile(join(folder, 'file'), '');
    await symlink(join(folder, 'file'), join(folder, 'link'));
    const reasonOf = (path: string): string | undefined =>
      ndjson({ name: 'out', path: join(folder, path) })
        .obstacle?.()
        ?.reason.replace(`${folder}/`, '');
    expect(reasonOf('made/here/events.ndjson')).toBeUndefined();
    expect(reasonOf('file')).toBeUndefined();
    expect(reasonOf('link')).toBe('link: it is a symbolic link');
    expect(reasonOf('.')).toMatch(/: it is a folder$/);
    expect(reasonOf('file/events.ndjson')).toMatch(/^file\/events.ndjson: ENOTDIR/);
    expect(ndjson({ name: 'out' }).obstacle).toBeUndefined();
    expect(await readdir(folder)).toEqual(['file', 'link']);
  });

  it('ndjson: writes into the file of its name, also after that was moved or removed', async () => {
    const subscription = ndjson({ name: 'out', path });
    await send(subscription, 'a');
    await rename(path, join(folder, 'moved'));
    await send(subscription, 'b', 'c');
    await rm(path);
    await send(subscription, 'd');
    await truncate(path);
    await send(subscription, 'e');
    await subscription.close?.();
    expect(await subjectsIn(join(folder, 'moved'))).toEqual(['a']);
    expect(await subjectsIn(path)).toEqual(['e']);
  });

  it('ndjson: does not write through a symbolic link', async () => {
    await symlink(join(folder, 'target'), path);
    await expect(write({}, 'a')).rejects.toMatchObject({
      message: `Ndjson "out": could not write to ${path}: it is a symbolic link; set path to the file itself.`,
    });
    expect(await readdir(folder)).toEqual(['events.ndjson']);
  });

  it('ndjson: keeps the order of concurrent events and the existing lines', async () => {
    await write({}, 'a');
    const subjects = Array.from({ length: 200 }, (_, number) => `record-${number}`);
    await write({}, ...subjects);
    expect(await subjectsIn(path)).toEqual(['a', ...subjects]);
  });

  it('ndjson: terminates a line that a crash cut off', async () => {
    await writeFile(path, '{"specversion":"1.0","id":"evt_');
    await write({}, 'a', 'b');
    const [torn, ...whole] = (await readFile(path, 'utf8')).trimEnd().split('\n');
    expect(torn).toBe('{"specversion":"1.0","id":"evt_');
    expect(whole.map((line) => (JSON.parse(line) as { subject: string }).subject)).toEqual(['a', 'b']);
  });

  it('ndjson: a line that another process is writing is not cut off', async () => {
    const other = `${JSON.stringify(sampleEvent('other'))}\n`;
    await writeFile(path, other.slice(0, 10));
    // Both wait in one process, and the shorter wait ends first.
    const part = Math.ceil((other.length - 10) / 20);
    const writing = (async () => {
      for (let at = 10; at < other.length; at += part) {
        await setTimeout(2);
        await appendFile(path, other.slice(at, at + part));
      }
    })();
    await Promise.all([writing, write({}, 'a')]);
    expect(await subjectsIn(path)).toEqual(['other', 'a']);
  });

  it('ndjson: fails the delivery with the reason when it cannot write, and recovers', async () => {
    await mkdir(path);
    const subscription = ndjson({ name: 'out', path });
    await expect(send(subscription, 'a')).rejects.toMatchObject({
      code: 'CF_WRITE_FAILED',
      message: `Ndjson "out": could not write to ${path}: it is a folder; change path to the name of a file.`,
    });
    await rm(path, { recursive: true });
    await send(subscription, 'a');
    await subscription.close?.();
    expect(await subjectsIn(path)).toEqual(['a']);
  });
});

describe('ndjson: standard output', () => {
  it('ndjson: fails the delivery when the reader has closed the pipe, and the process continues', async () => {
    const running = spawn(process.execPath, ['--import', 'tsx', fileURLToPath(child), '100000'], {
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let said = '';
    running.stderr.setEncoding('utf8').on('data', (text: string) => (said += text));
    running.stdout.once('data', () => running.stdout.destroy());
    const [code] = (await once(running, 'close')) as [number | null];
    expect(said).toBe(
      'Ndjson "out": could not write to standard output: the reader has closed it; start again with a reader, or set a path.\n',
    );
    expect(code).toBe(0);
  });

  it('ndjson: waits for a slow reader', async () => {
    let release = (): void => undefined;
    const slow = new Writable({ highWaterMark: 1, write: (_chunk, _encoding, done) => (release = done) });
    const settings = ndjsonSchema.parse({ name: 'out' });
    const subscription = ndjson.subscription(settings, openNdjson(settings, slow));
    let handled = false;
    const sending = send(subscription, 'a').then(() => (handled = true));
    await new Promise(setImmediate);
    expect(handled).toBe(false);
    release();
    await sending;
    expect(handled).toBe(true);
  });

  it('ndjson: closing waits for pending lines', async () => {
    const lines: string[] = [];
    let release = (): void => undefined;
    const slow = new Writable({
      write: (chunk: Buffer, _encoding, done) => {
        release = () => {
          lines.push(chunk.toString('utf8'));
          done();
        };
      },
    });
    const settings = ndjsonSchema.parse({ name: 'out' });
    const subscription = ndjson.subscription(settings, openNdjson(settings, slow));
    const sending = send(subscription, 'a');
    const closing = subscription.close?.();
    release();
    await closing;
    expect(lines).toHaveLength(1);
    await sending;
    expect(slow.writableEnded).toBe(false);
  });
});
