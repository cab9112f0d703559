import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import { describe, expect, it } from 'vitest';
import type { ChangeEvent } from '../../src/events/types.js';
import type { DeadLetter } from '../../src/delivery/act/dead-letters.js';
import { STACK_OR_COLOUR, useCli, type CliRun } from '../support/cli.js';
import { appendEvents, changeEvent, changesOf } from '../support/events.js';
import { eventually } from '../support/eventually.js';
import { hasTerminal } from '../support/process.js';
import { useRedis } from '../support/redis.js';
import { widthOf } from '../../src/cli/text.js';

const CONFIG = `
  import { existsSync, appendFileSync } from 'node:fs';
  import { defineHandler, PermanentError } from 'crm-changefeed';
  const handle = ({ data }, { subscription }) => {
    if (!existsSync('repaired')) throw new PermanentError('the ledger is closed');
    appendFileSync('handled', subscription + ' ' + data.sequence + '\\n');
  };
  export default {
    workspaces: [{ name: 'acme', baseUrl: 'http://127.0.0.1:1', token: 'tok-5f0c1e9bd2a7' }],
    redis: { prefix: process.env.PREFIX },
    subscriptions: ['books', 'mail'].map((name) => defineHandler({ name, start: 'beginning', handle })),
  };`;

describe('dead letters and replay: the command line', () => {
  const cli = useCli();
  const redis = useRedis();

  async function afterThreeDeaths() {
    const folder = await cli({ 'changefeed.config.mjs': CONFIG });
    const env = { REDIS_URL: redis.url, PREFIX: redis.keys.prefix };
    const events = [1, 2, 3].map((sequence) =>
      named(changeEvent({ record: 'r1', sequence, changed: ['등급', '이메일'] })),
    );
    await appendEvents(redis, events);
    folder.start(['start', '--only', 'dispatch,handle'], env);
    const run = async (...args: string[]): Promise<CliRun> => {
      const done = await folder.run(['dead', ...args], env);
      expect(done.stdout + done.stderr).not.toMatch(STACK_OR_COLOUR);
      return done;
    };
    const letters = async (...args: string[]): Promise<DeadLetter[]> => {
      const { stdout } = await run('list', '--json', ...args);
      return stdout.split('\n').flatMap((line) => (line === '' ? [] : [JSON.parse(line) as DeadLetter]));
    };
    await eventually(async () => expect(await letters()).toHaveLength(6));
    return { run, letters, events, folder, env };
  }

  it(
    'dead letters: texts of the CRM, of people and of endpoints do not control the terminal',
    { timeout: 240_000 },
    async () => {
      const hostile = 'evil\u001b[31m\u001b]0;PWNED\u0007\u009b2J\u202eback\u2066';
      const folder = await cli({
        'changefeed.config.mjs': CONFIG.replace("'the ledger is closed'", JSON.stringify(`${hostile} ledger`)),
      });
      const env = { REDIS_URL: redis.url, PREFIX: redis.keys.prefix };
      const event = changeEvent({ record: hostile, sequence: 1 });
      const changes = [{ field: hostile, before: null, after: hostile }];
      await appendEvents(redis, [{ ...event, data: { ...event.data, changes } }]);
      folder.start(['start', '--only', 'dispatch,handle'], env);
      const said = async (...args: string[]): Promise<string> => (await folder.run(args, env)).stdout;
      await eventually(async () => expect(await said('dead', 'list')).toContain('evil[31m]0;PWNED2Jback'));
      await folder.run(['pause', 'books', '--reason', hostile], env);
      const outputs = {
        list: await said('dead', 'list'),
        show: await said('dead', 'show', event.id),
        listJson: await said('dead', 'list', '--json'),
        tail: await said('tail', '--from', 'beginning', '--json', '--no-follow'),
        status: await said('status'),
        statusJson: await said('status', '--json'),
        resume: await said('resume', 'books'),
      };
      for (const [command, output] of Object.entries(outputs)) {
        expect({ command, output }).toMatchObject({ output: expect.stringContaining('evil') as unknown });
        // Line breaks are the only characters that cannot be seen.
        expect({ command, invisible: output.match(/[^\P{C}\n]/gu) }).toEqual({ command, invisible: null });
      }
      const [letter] = outputs.listJson
        .split('\n')
        .flatMap((line) => (line === '' ? [] : [JSON.parse(line) as DeadLetter]));
      expect(letter?.event.subject).toBe(hostile);
      expect(outputs.status).toContain('evil[31m]0;PWNED2Jback');
    },
  );

  it('dead letters: list, show, retry and drop work while a service runs', { timeout: 240_000 }, async () => {
    const { run, letters, events, folder } = await afterThreeDeaths();
    const [first] = events;
    const list = await run('list', '--subscription', 'books');
    const [head, , , oldest] = list.stdout.split('\n');
    expect(head).toMatch(/^record +change +reason +subscription +attempts +died +event$/);
    expect(oldest).toMatch(
      /^가상인\[31m +person updated  등급: \S+ → \S+ \+1 +the ledger is closed +books +1 +\d{4}-\d\d-\d\d \d\d:\d\d +evt_/,
    );
    expect(oldest).toContain(first!.id);

    const cut = await run('list', '--limit', '2', '--subscription', 'books');
    expect(cut.stdout.trimEnd().split('\n')).toHaveLength(3);
    expect(cut.stderr).toBe('2 of 3 dead letters shown; --limit 3 shows all.\n');
    expect(list.stderr).toBe('');

    const shown = await run('show', first!.id, '--subscription', 'mail');
    const lines = shown.stdout.trimEnd().split('\n');
    expect(lines[0]).toBe('가상인[31m  person updated');
    expect(lines.slice(1, 3)).toEqual([
      expect.stringMatching(/^  등급: .* → /),
      expect.stringMatching(/^  이메일: .* → /),
    ]);
    expect(lines[3]).toBe('mail: the ledger is closed');
    expect(lines[5]).toMatch(/^  attempt 1 .* PermanentError: the ledger is closed$/);
    expect(lines).toHaveLength(7);
    expect(lines[6]).toContain(first!.id);
    const whole = await run('show', first!.id, '--subscription', 'mail', '--verbose');
    expect(whole.stdout).toMatch(/\n    in .*changefeed\.config\.mjs:\d+/);
    expect(whole.stdout).toContain('\\u001b[31m');
    expect(JSON.parse(whole.stdout.slice(whole.stdout.indexOf('\n{')))).toEqual(first);

    expect(await run('drop', first!.id, '--subscription', 'mail')).toMatchObject({
      code: 0,
      stdout: '1 dead letter dropped.\n',
    });
    await repair(folder.cwd);
    expect((await run('retry', '--all', '--json')).stdout).toBe('{"count":5}\n');

    await eventually(async () => {
      const handled = await handledIn(folder.cwd);
      expect(handled.filter((line) => line.startsWith('books'))).toEqual(['books 1', 'books 2', 'books 3']);
      expect(handled.filter((line) => line.startsWith('mail'))).toEqual(['mail 2', 'mail 3']);
    });
    expect(await letters()).toEqual([]);
    expect((await run('list')).stdout).toBe('no dead letters\n');
  });

  it(
    'dead letters: those with a certain failure or type are retried or dropped, after a question',
    { timeout: 240_000 },
    async () => {
      const { run, letters, folder, env } = await afterThreeDeaths();
      expect((await run('list', '--reason', 'LEDGER', '--type', 'crm.person.*')).stdout.split('\n')).toHaveLength(8);
      expect((await run('list', '--reason', 'quota')).stdout).toBe('no such dead letters\n');
      expect((await run('retry', '--type', 'crm.todo.*')).stdout).toBe('0 dead letters to be handled again.\n');

      const dry = await run('drop', '--reason', 'ledger', '--subscription', 'mail', '--dry-run');
      expect(dry).toMatchObject({
        code: 0,
        stdout: 'This drops 3 dead letters, which cannot be undone. Nothing was changed.\n',
      });
      expect((await run('retry', '--all', '--dry-run', '--json')).stdout).toBe('{"count":6,"dryRun":true}\n');
      expect(await run('drop', '--all')).toMatchObject({
        code: 2,
        stdout: '',
        stderr:
          'changefeed: dead drop: This drops 6 dead letters, which cannot be undone. Without a terminal, confirm it with --yes. [CF_USAGE]\n',
      });
      expect(await letters()).toHaveLength(6);
      if (hasTerminal) {
        const refused = await folder.run(['dead', 'drop', '--all'], env, { columns: 80, typed: 'n\n' });
        expect(refused.code).toBe(1);
        expect(refused.stdout).toContain('Continue? [y/N]');
        expect(refused.stdout).toContain('Nothing was changed.');
        expect(await letters()).toHaveLength(6);
        const agreed = await folder.run(['dead', 'drop', '--reason', 'ledger', '--subscription', 'mail'], env, {
          columns: 80,
          typed: 'y\n',
        });
        expect(agreed.stdout).toContain('3 dead letters dropped.');
      } else await run('drop', '--reason', 'ledger', '--subscription', 'mail', '--yes');
      expect((await letters()).map(({ subscription }) => subscription)).toEqual(['books', 'books', 'books']);

      await repair(folder.cwd);
      expect((await run('retry', '--reason', 'the ledger')).stdout).toBe('3 dead letters to be handled again.\n');
      await eventually(async () => expect(await handledIn(folder.cwd)).toEqual(['books 1', 'books 2', 'books 3']));
    },
  );

  it.skipIf(!hasTerminal)('dead letters: the list fits a narrow terminal', { timeout: 240_000 }, async () => {
    const { folder, env, events } = await afterThreeDeaths();
    const { stdout } = await folder.run(['dead', 'list'], env, { columns: 80 });
    const lines = stripVTControlCharacters(stdout).split('\r\n');
    expect(lines.filter((line) => widthOf(line) > 80)).toEqual([]);
    for (const { id } of events) expect(lines).toContain(`  ${id}`);
  });

  it(
    'replay: a range of the log is sent to one subscription and handled by the service',
    { timeout: 240_000 },
    async () => {
      const folder = await cli({ 'changefeed.config.mjs': CONFIG, repaired: '' });
      const env = { REDIS_URL: redis.url, PREFIX: redis.keys.prefix };
      const logIds = await appendEvents(redis, changesOf('r1', 1, 2, 3));
      folder.start(['start', '--only', 'dispatch,handle'], env);
      await eventually(async () => expect(await handledIn(folder.cwd)).toHaveLength(6));

      const args = ['replay', 'mail', logIds[1]!];
      const { code, stdout } = await folder.run(args, env);
      expect({ code, stdout }).toEqual({ code: 0, stdout: '2 events sent to "mail" again.\n' });

      await eventually(async () => {
        expect((await handledIn(folder.cwd)).slice(6)).toEqual(['mail 2', 'mail 3']);
      });
      const dry = await folder.run([...args, '--dry-run'], env);
      expect(dry.stdout).toBe('2 events would be sent to "mail" again.\n');
      const ofRecord = ['replay', 'mail', '1h', '--json', '--record'];
      expect(JSON.parse((await folder.run([...ofRecord, 'r1', '--dry-run'], env)).stdout)).toMatchObject({ count: 3 });
      expect(JSON.parse((await folder.run([...ofRecord, 'r2'], env)).stdout)).toMatchObject({ count: 0 });
      expect(JSON.parse((await folder.run([...ofRecord, 'r1'], env)).stdout)).toMatchObject({ count: 3 });
      await eventually(async () => {
        expect((await handledIn(folder.cwd)).slice(8)).toEqual(['mail 1', 'mail 2', 'mail 3']);
      });
      const lost = await folder.run(['replay', 'mail', 'lunch'], env);
      expect(lost).toMatchObject({ code: 2, stderr: expect.stringContaining('found "lunch"; allowed:') as string });
    },
  );

  it('dead letters: an ambiguous command does nothing and ends with exit code 2', async () => {
    const folder = await cli({ 'changefeed.config.mjs': CONFIG });
    const env = { REDIS_URL: redis.url, PREFIX: redis.keys.prefix };
    const cases: [string[], string][] = [
      [['drop'], 'dead drop: give ids of events, subscription, types, reason or all.'],
      [['show'], 'missing required argument \'ids\'. See "changefeed dead --help".'],
      [['show', 'evt_1'], 'There is no dead letter evt_1. "changefeed dead list" shows the ids.'],
      [['list', '--subscription', 'x'], 'There is no subscription "x". Known: "books", "mail".'],
    ];
    expect(await folder.run(['dead', 'drop', 'evt_1'], env)).toMatchObject({
      code: 1,
      stdout: '0 dead letters dropped.\n',
    });
    for (const [args, sentence] of cases) {
      const { code, stdout, stderr } = await folder.run(['dead', ...args], env);
      expect({ args, code, stdout, stderr }).toEqual({
        args,
        code: 2,
        stdout: '',
        stderr: `changefeed: ${sentence} [CF_USAGE]\n`,
      });
    }
  });
});

function named(event: ChangeEvent): ChangeEvent {
  return {
    ...event,
    data: { ...event.data, after: { ...event.data.after, id: event.subject, 이름: '가상인\u001b[31m' } },
  };
}

const repair = (cwd: string): Promise<void> => writeFile(join(cwd, 'repaired'), '');
const handledIn = async (cwd: string): Promise<string[]> =>
  (await readFile(join(cwd, 'handled'), 'utf8').catch(() => '')).split('\n').filter((line) => line !== '');
