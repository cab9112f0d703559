import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { DeadLetter } from '../../src/dispatch/dead-letters.js';
import { STACK_OR_COLOUR, useCli, type CliRun } from '../support/cli.js';
import { appendEvents, changeEvent } from '../support/fan-out.js';
import { eventually } from '../support/eventually.js';
import { useRedis } from '../support/redis.js';

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

  /** A folder in which three events have died for each of two subscriptions, and the service still runs. */
  async function afterThreeDeaths() {
    const folder = await cli({ 'changefeed.config.mjs': CONFIG });
    const env = { REDIS_URL: redis.url, PREFIX: redis.keys.prefix };
    const events = [1, 2, 3].map((sequence) => changeEvent({ record: 'r1', sequence }));
    await appendEvents(redis.redis, redis.keys, events);
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
    return { run, letters, events, folder };
  }

  it('dead letters: list, show, retry and drop work while a service runs', { timeout: 120_000 }, async () => {
    const { run, letters, events, folder } = await afterThreeDeaths();
    const [first] = events;
    const list = await run('list', '--subscription', 'books');
    expect(list.stdout.split('\n')[0]).toMatch(/^event +subscription +type +record +died +attempts +reason$/);
    expect(list.stdout).toContain(`${first!.id}  books`);
    expect(list.stdout).not.toContain('가상인');

    const shown = await run('show', first!.id, '--subscription', 'mail');
    expect(shown.stdout).toMatch(/attempt 1 .* PermanentError: the ledger is closed/);
    expect(JSON.parse(shown.stdout.slice(shown.stdout.indexOf('\n{')))).toEqual(first);

    expect(await run('drop', first!.id, '--subscription', 'mail')).toMatchObject({
      code: 0,
      stdout: '1 dead letter dropped\n',
    });
    await repair(folder.cwd);
    expect((await run('retry', '--all', '--json')).stdout).toBe('{"retried":5}\n');

    await eventually(async () => {
      const handled = await handledIn(folder.cwd);
      expect(handled.filter((line) => line.startsWith('books'))).toEqual(['books 1', 'books 2', 'books 3']);
      expect(handled.filter((line) => line.startsWith('mail'))).toEqual(['mail 2', 'mail 3']);
    });
    expect(await letters()).toEqual([]);
    expect((await run('list')).stdout).toBe('no dead letters\n');
  });

  it(
    'replay: a range of the log is sent to one subscription and handled by the service',
    { timeout: 120_000 },
    async () => {
      const folder = await cli({ 'changefeed.config.mjs': CONFIG, repaired: '' });
      const env = { REDIS_URL: redis.url, PREFIX: redis.keys.prefix };
      const logIds = await appendEvents(
        redis.redis,
        redis.keys,
        [1, 2, 3].map((sequence) => changeEvent({ record: 'r1', sequence })),
      );
      folder.start(['start', '--only', 'dispatch,handle'], env);
      await eventually(async () => expect(await handledIn(folder.cwd)).toHaveLength(6));

      const args = ['replay', '--subscription', 'mail', '--from', logIds[1]!];
      const { code, stdout } = await folder.run(args, env);
      expect({ code, stdout }).toEqual({ code: 0, stdout: '2 events sent to "mail" again\n' });

      await eventually(async () => {
        expect((await handledIn(folder.cwd)).slice(6)).toEqual(['mail 2', 'mail 3']);
      });
      const lost = await folder.run([...args.slice(0, 4), 'lunch'], env);
      expect(lost).toMatchObject({ code: 2, stderr: expect.stringContaining('found "lunch"; allowed:') as string });
    },
  );

  it('dead letters: an ambiguous command does nothing and ends with exit code 2', async () => {
    const folder = await cli({ 'changefeed.config.mjs': CONFIG });
    const env = { REDIS_URL: redis.url, PREFIX: redis.keys.prefix };
    const cases: [string[], string][] = [
      [['drop'], 'dead drop: give either ids of events or --all.'],
      [['retry', 'evt_1', '--all'], 'dead retry: give either ids of events or --all.'],
      [['show'], 'dead show: give the id of an event; "dead list" shows the ids.'],
      [['bury'], 'dead: found "bury"; allowed: list, show, retry, drop.'],
      [['drop', 'evt_1'], 'There is no dead letter evt_1. "changefeed dead list" shows the ids.'],
      [['list', '--subscription', 'x'], 'There is no subscription "x". Known: "books", "mail".'],
    ];
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

const repair = (cwd: string): Promise<void> => writeFile(join(cwd, 'repaired'), '');
const handledIn = async (cwd: string): Promise<string[]> =>
  (await readFile(join(cwd, 'handled'), 'utf8').catch(() => '')).split('\n').filter((line) => line !== '');
