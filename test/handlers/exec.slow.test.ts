import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { isPermanent } from '../../src/handlers/errors.js';
import { createExec, exec, execSchema, type ExecOptions } from '../../src/handlers/exec/exec.js';
import type { HandlerContext } from '../../src/handlers/handler.js';
import { eventually } from '../support/eventually.js';
import { failureOf, handlerContext, sampleEvent } from '../support/handler-fixtures.js';

const node = process.execPath;
let folder = '';
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'changefeed-exec-'));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

/** Options for a program that is these lines of JavaScript. */
const script = (source: string): Pick<ExecOptions, 'command' | 'args'> => ({ command: node, args: ['-e', source] });
const said = (error: unknown): string => (error as Error).message.replace(JSON.stringify(node), 'node');

async function deliver(options: Omit<ExecOptions, 'name'>, context: Partial<HandlerContext> = {}): Promise<void> {
  const subscription = exec({ name: 'sync', ...options });
  await subscription.handle(sampleEvent(), handlerContext(context));
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

describe('exec: a program', () => {
  it('exec: passes the event on standard input and its facts in the environment', async () => {
    const write = `
      const input = require('fs').readFileSync(0, 'utf8');
      const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => name.startsWith('CHANGEFEED_')));
      require('fs').writeFileSync('seen.json', JSON.stringify({ input, env, args: process.argv.slice(1), path: process.env.PATH }));`;
    const env = { ...process.env, CHANGEFEED_TOKEN: 'the-token' };
    const settings = execSchema.parse({
      name: 'sync',
      command: node,
      args: ['-e', write, '$HOME; echo *'],
      cwd: folder,
      env: { CHANGEFEED_MODE: 'own' },
    });
    const context = handlerContext({ attempt: 3, subscription: 'sync' });
    await createExec(settings, { env }).handle(sampleEvent(), context);
    const seen = JSON.parse(await readFile(join(folder, 'seen.json'), 'utf8')) as Record<string, unknown>;
    const event = sampleEvent();
    expect(seen).toEqual({
      input: `${JSON.stringify(event)}\n`,
      // No shell expands the arguments.
      args: ['$HOME; echo *'],
      path: process.env['PATH'],
      env: {
        CHANGEFEED_EVENT_ID: event.id,
        CHANGEFEED_EVENT_TYPE: 'crm.person.updated',
        CHANGEFEED_EVENT_SUBJECT: event.subject,
        CHANGEFEED_WORKSPACE: 'acme',
        CHANGEFEED_SUBSCRIPTION: 'sync',
        CHANGEFEED_ATTEMPT: '3',
        CHANGEFEED_MODE: 'own',
      },
    });
  });

  it('exec: of the environment of this process, a program gets what it needs to start and no secrets', async () => {
    const write = `require('fs').writeFileSync('seen.json', JSON.stringify(Object.keys(process.env)))`;
    const secrets = ['CRM_TOKEN', 'REDIS_URL', 'HOOK_SECRET', 'CHANGEFEED_OPERATE_TOKEN', 'PATH_TOKEN', 'MY_HOME'];
    const needed = ['HOME', 'LANG', 'LC_ALL', 'LOGNAME', 'PATH', 'SHELL', 'TMPDIR', 'TZ', 'USER'];
    const env = Object.fromEntries([...secrets, ...needed].map((name) => [name, 'x']));
    const own = { name: 'sync', command: node, args: ['-e', write], cwd: folder, env: { MY_MODE: 'own' } };
    await createExec(execSchema.parse(own), { env }).handle(sampleEvent(), handlerContext());
    const seen = JSON.parse(await readFile(join(folder, 'seen.json'), 'utf8')) as string[];
    const others = seen.filter((name) => !name.startsWith('CHANGEFEED_'));
    expect(others.toSorted()).toEqual([...needed, 'MY_MODE'].toSorted());
    expect(seen).not.toContain('CHANGEFEED_OPERATE_TOKEN');
  });

  it('exec: a program may succeed without reading its input', async () => {
    const event = sampleEvent();
    const large = { ...event, data: { ...event.data, after: { id: event.subject, 이름: '가'.repeat(2_000_000) } } };
    const subscription = exec({ name: 'sync', command: 'true' });
    await expect(subscription.handle(large, handlerContext())).resolves.toBeUndefined();
  });

  it('exec: the delivery ends with the program, even if it leaves children running', async () => {
    const leaveOne = `
      const child = require('child_process').spawn('sleep', ['60'], { stdio: 'inherit', detached: true });
      require('fs').writeFileSync('pid', String(child.pid)); child.unref();`;
    await deliver({ ...script(leaveOne), cwd: folder });
    const pid = Number(await readFile(join(folder, 'pid'), 'utf8'));
    expect(isAlive(pid)).toBe(true);
    process.kill(pid, 'SIGKILL');
  });
});

describe('exec: a failing program', () => {
  it.each([1, 75, 127])('exec: exit code %i is retried, and the error has the end of its output', async (code) => {
    const error = await failureOf(
      deliver(script(`console.error('\\x1b[31mno\\x1b[0m\\n  reason'); process.exit(${code})`)),
    );
    expect([said(error), isPermanent(error)]).toEqual([
      `Exec "sync": node exited with ${code}. The event is tried again. It said: no reason`,
      false,
    ]);
    expect(error).toMatchObject({ code: 'CF_COMMAND_FAILED', facts: { subscription: 'sync', exitCode: code } });
  });

  it('exec: exit code 65 (EX_DATAERR) makes a dead letter', async () => {
    const error = await failureOf(deliver(script(`console.error('no such team'); process.exit(65)`)));
    expect([said(error), isPermanent(error)]).toEqual([
      'Exec "sync": node exited with 65: it rejected the event permanently. It said: no such team',
      true,
    ]);
  });

  it('exec: a program ended by a signal is retried', async () => {
    const error = await failureOf(deliver(script(`process.kill(process.pid, 'SIGSEGV')`)));
    expect(said(error)).toBe('Exec "sync": node was ended by SIGSEGV. The event is tried again.');
  });

  it('exec: an error contains at most 300 characters of output', async () => {
    const flood = `process.stderr.write('가나다라'.repeat(500_000) + 'the end', () => process.exit(1))`;
    const error = await failureOf(deliver(script(flood)));
    const tail = error.message.split('It said: ')[1] ?? '';
    expect([Array.from(tail).length, tail.slice(0, 1), tail.endsWith('나다라the end')]).toEqual([300, '…', true]);
    expect(tail).not.toContain('\ufffd');
  });

  it.each<[string, Omit<ExecOptions, 'name'>, string]>([
    [
      'does not exist',
      { command: 'no-such-program-here' },
      'Exec "sync": could not start "no-such-program-here": there is no program "no-such-program-here" on PATH; install it, or set command to its full path; then retry the dead letters.',
    ],
    [
      'would run in a folder that does not exist',
      { command: 'true', cwd: '/no/such/folder' },
      'Exec "sync": could not start "true": there is no folder "/no/such/folder"; create it, or change cwd; then retry the dead letters.',
    ],
  ])('exec: a program that %s makes a dead letter that says what to do', async (_what, options, sentence) => {
    const error = await failureOf(deliver(options));
    expect([error.message, isPermanent(error)]).toEqual([sentence, true]);
  });

  it('exec: a program that is not executable makes a dead letter that says so', async () => {
    const command = join(folder, 'plain.sh');
    await writeFile(command, '#!/bin/sh\n', { mode: 0o600 });
    const error = await failureOf(deliver({ command }));
    expect(isPermanent(error)).toBe(true);
    expect(error.message).toContain('is not executable; make it executable: chmod +x');
  });
});

describe('exec: a program that takes too long', () => {
  /** Writes its own process id and that of its child, then waits; may ignore SIGTERM. */
  const lingering = (isDeaf: boolean): string => `
    const { spawn } = require('child_process');
    const deaf = ${isDeaf};
    if (deaf) process.on('SIGTERM', () => {});
    else process.on('SIGTERM', () => { require('fs').writeFileSync('terminated', ''); process.exit(0); });
    const child = spawn(process.execPath, ['-e', (deaf ? "process.on('SIGTERM', () => {});" : '') + "console.log('up'); setInterval(() => {}, 1000)"], { stdio: ['ignore', 'pipe', 'ignore'] });
    child.stdout.once('data', () => require('fs').writeFileSync('pids', process.pid + ' ' + child.pid));
    setInterval(() => {}, 1000);`;

  async function pidsOf(): Promise<number[]> {
    return await eventually(async () => {
      // The file exists before its content does.
      const text = await readFile(join(folder, 'pids'), 'utf8');
      expect(text).toMatch(/^\d+ \d+$/);
      return text.split(' ').map(Number);
    });
  }

  it('exec: SIGTERM reaches the program and its children, and it may still succeed', async () => {
    const stopping = new AbortController();
    const delivery = deliver({ ...script(lingering(false)), cwd: folder }, { signal: stopping.signal });
    const pids = await pidsOf();
    stopping.abort();
    await expect(delivery).resolves.toBeUndefined();
    expect(await readFile(join(folder, 'terminated'), 'utf8')).toBe('');
    expect(pids.map(isAlive)).toEqual([false, false]);
  });

  it('exec: SIGKILL ends a program and its children that ignore SIGTERM', async () => {
    const stopping = new AbortController();
    const options = { ...script(lingering(true)), cwd: folder, killAfter: '200ms' } as const;
    const failed = failureOf(deliver(options, { signal: stopping.signal }));
    const pids = await pidsOf();
    stopping.abort();
    expect(said(await failed)).toBe(
      'Exec "sync": node was stopped before it had finished, by its timeout (30 s) or because this process stops. The event is tried again.',
    );
    await eventually(() => expect(pids.map(isAlive)).toEqual([false, false]));
  });

  it('exec: the next attempt of a record waits until the program has ended', async () => {
    const source = `
      const fs = require('fs');
      const { CHANGEFEED_EVENT_SUBJECT: record, CHANGEFEED_ATTEMPT: attempt } = process.env;
      const log = (what) => fs.appendFileSync('log', record + attempt + ' ' + what + '\\n');
      const end = () => { log('ends'); process.exit(0); };
      log('begins');
      if (attempt === '2') end();
      process.on('SIGTERM', () => { log('stops'); setInterval(() => fs.existsSync('may-end') && end(), 10); });
      setInterval(() => {}, 1000);`;
    const subscription = exec({ name: 'sync', ...script(source), cwd: folder, killAfter: '20s' });
    const logged = async (): Promise<string[]> => (await readFile(join(folder, 'log'), 'utf8')).trim().split('\n');
    const stopping = new AbortController();
    const first = Promise.resolve(subscription.handle(sampleEvent('a'), handlerContext({ signal: stopping.signal })));
    await eventually(async () => expect(await logged()).toEqual(['a1 begins']));
    stopping.abort();
    const second = Promise.resolve(subscription.handle(sampleEvent('a'), handlerContext({ attempt: 2 })));
    await eventually(async () => expect(await logged()).toContain('a1 stops'));

    // A program for another record that is started later ends first.
    await subscription.handle(sampleEvent('b'), handlerContext({ attempt: 2 }));
    expect(await logged()).toEqual(['a1 begins', 'a1 stops', 'b2 begins', 'b2 ends']);
    await writeFile(join(folder, 'may-end'), '');
    await Promise.all([first, second]);
    expect((await logged()).slice(4)).toEqual(['a1 ends', 'a2 begins', 'a2 ends']);
  });

  it('exec: closing the subscription stops the program and waits for it', async () => {
    const subscription = exec({ name: 'sync', ...script(lingering(false)), cwd: folder });
    const delivery = Promise.resolve(subscription.handle(sampleEvent(), handlerContext()));
    const pids = await pidsOf();
    await subscription.close?.();
    expect(pids.map(isAlive)).toEqual([false, false]);
    await delivery;
  });

  it('exec: a program is not started after its signal has aborted', async () => {
    const error = await failureOf(deliver({ command: 'no-such-program' }, { signal: AbortSignal.abort() }));
    expect(error.message).toContain('was stopped before it had finished');
  });
});

describe('exec options', () => {
  it.each<[string, object, string]>([
    [
      'no program',
      { command: '' },
      'command of exec "sync": found an empty string; allowed: the path or the name of a program (a shell line goes into a script, or into args of "sh").',
    ],
    [
      'arguments as one text',
      { command: 'sh', args: '-c x' },
      'args of exec "sync": found a string of 4 characters; allowed: an array of texts, one per argument.',
    ],
    [
      'a variable that is no text, without showing the others',
      { command: 'sh', env: { KEY: 'sesame', PORT: 80 } },
      'env.PORT of exec "sync": found a number; allowed: an object of texts by name of variable (letters, digits and _).',
    ],
    [
      'a misspelled option',
      { command: 'sh', arg: [] },
      'arg of exec "sync": there is no such option (did you mean "args"?); allowed: name, on, workspaces, lists, class, fields, from, notFrom, where, transform, order, concurrency, retry, whenDead, timeout, start, afterRewind, settle, batch, command, args, cwd, env, killAfter.',
    ],
  ])('refuse %s', (_what, options, sentence) => {
    const given = { name: 'sync', ...options } as ExecOptions;
    expect(() => exec(given)).toThrow(expect.objectContaining({ code: 'CF_CONFIG_INVALID', message: sentence }));
  });
});
