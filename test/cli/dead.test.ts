import { describe, expect, it } from 'vitest';
import { widthOf } from '../../src/cli/text.js';
import type { DeadLetter } from '../../src/delivery/act/dead-letters.js';
import { PermanentError } from '../../src/delivery/handlers/errors.js';
import type { ChangeEvent } from '../../src/events/types.js';
import { STACK_OR_COLOUR, useCli, type CliRun } from '../support/cli.js';
import { appendEvents, changeEvent } from '../support/events.js';
import { eventually } from '../support/eventually.js';
import { aSubscription } from '../support/fan-out.js';
import { useRedis } from '../support/redis.js';
import { eventuallyDead, runFanOut } from '../support/running-fan-out.js';

const HOSTILE = 'evil\u001b[31m\u001b]0;PWNED\u0007\u009b2J\u202eback\u2066';

describe('dead letters: the command line', () => {
  const cli = useCli();
  const redis = useRedis();

  async function afterDeaths(events: readonly ChangeEvent[], reason = 'the ledger is closed') {
    let isBroken = true;
    const handled: string[] = [];
    const names = ['books', 'mail'];
    const { dead } = await runFanOut(
      redis,
      names.map((name) =>
        aSubscription(name, ({ data }) => {
          if (isBroken) throw new PermanentError(reason);
          handled.push(`${name} ${data.sequence}`);
        }),
      ),
    );
    await appendEvents(redis, events);
    await eventuallyDead(dead, 2 * events.length);
    const folder = await cli({
      'changefeed.config.json': {
        workspaces: [{ name: 'acme', baseUrl: 'http://127.0.0.1:1', token: 'tok-5f0c1e9bd2a7' }],
        redis: { prefix: redis.keys.prefix },
        subscriptions: names.map((name) => ({ handler: 'ndjson', name, path: 'out.ndjson' })),
      },
    });
    const run = async (args: readonly string[], io: object = {}): Promise<CliRun> => {
      const done = await folder.call(['dead', ...args], { REDIS_URL: redis.url }, io);
      expect(done.stdout).not.toMatch(STACK_OR_COLOUR);
      return done;
    };
    const letters = async (): Promise<DeadLetter[]> => {
      const { stdout } = await run(['list', '--json']);
      return stdout.split('\n').flatMap((line) => (line === '' ? [] : [JSON.parse(line) as DeadLetter]));
    };
    return { run, letters, handled, repair: () => (isBroken = false) };
  }
  const three = (): ChangeEvent[] =>
    [1, 2, 3].map((sequence) => {
      const event = changeEvent({ record: 'r1', sequence, changed: ['등급', '이메일'] });
      return { ...event, data: { ...event.data, after: { id: 'r1', 이름: '가상인\u001b[31m' } } };
    });

  it('dead letters: list and show say why; some are retried and dropped by a filter, the rest after a question', async () => {
    const events = three();
    const { run, letters, handled, repair } = await afterDeaths(events);
    const [head, , , oldest] = (await run(['list', '--subscription', 'books'])).stdout.split('\n');
    expect(head).toMatch(/^record +change +reason +subscription +attempts +died +event$/);
    expect(oldest).toMatch(
      /^가상인\[31m +person updated {2}등급: \S+ → \S+ \+1 +the ledger is closed +books +1 +[-\d]+ [:\d]+ +evt_/,
    );
    expect(await run(['list', '--limit', '2', '--subscription', 'books'])).toMatchObject({
      stdout: expect.stringMatching(/^(.*\n){3}$/) as string,
      stderr: '2 of 3 dead letters shown; --limit 3 shows all.\n',
    });
    const { id } = events[0]!;
    const whole = await run(['show', id, '--subscription', 'mail', '--verbose']);
    expect(whole.stdout).toMatch(
      /^가상인\[31m {2}person updated\n {2}등급: .*\n {2}이메일: .*\nmail: the ledger is closed\n/,
    );
    expect(whole.stdout).toMatch(/\n {2}attempt 1 .* PermanentError: the ledger is closed\n {4}in .*\.ts:\d+/);
    expect(JSON.parse(whole.stdout.slice(whole.stdout.indexOf('\n{')))).toEqual(events[0]);

    expect((await run(['list', '--reason', 'quota'])).stdout).toBe('no such dead letters\n');
    expect((await run(['retry', '--type', 'crm.todo.*'])).stdout).toBe('0 dead letters to be handled again.\n');
    const question = { ask: () => Promise.resolve('n') };
    expect(await run(['drop', '--all'], question)).toMatchObject({ code: 1, stderr: 'Nothing was changed.\n' });
    expect(await run(['drop', '--all'])).toMatchObject({
      code: 2,
      stderr:
        'changefeed: dead drop: This drops 6 dead letters, which cannot be undone. Without a terminal, confirm it with --yes. [CF_USAGE]\n',
    });
    expect(await run(['drop', 'evt_1'])).toMatchObject({ code: 1, stdout: '0 dead letters dropped.\n' });
    expect((await run(['drop', id, '--subscription', 'mail'])).stdout).toBe('1 dead letter dropped.\n');
    repair();
    expect((await run(['retry', '--reason', 'LEDGER', '--subscription', 'mail', '--json'])).stdout).toBe(
      '{"count":2}\n',
    );
    await eventually(() => expect(handled).toEqual(['mail 2', 'mail 3']));
    expect(await run(['drop', '--type', 'crm.person.*', '--yes'])).toMatchObject({
      stdout: '3 dead letters dropped.\n',
    });
    expect(await letters()).toEqual([]);
    expect((await run(['list'])).stdout).toBe('no dead letters\n');
  });

  it('dead letters: texts of the CRM and of receivers do not control the terminal, and fit a narrow one', async () => {
    const event = changeEvent({ record: HOSTILE, sequence: 1 });
    const changes = [{ field: HOSTILE, before: null, after: HOSTILE }];
    const { run, letters } = await afterDeaths([{ ...event, data: { ...event.data, changes } }], `${HOSTILE} ledger`);
    const narrow = await run(['list'], { columns: 80 });
    for (const { stdout } of [narrow, await run(['list']), await run(['show', event.id])]) {
      expect(stdout).toContain('evil[31m]0;PWNED2Jback');
      // Line breaks are the only characters that cannot be seen.
      expect(stdout.match(/[^\P{C}\n]/gu)).toBeNull();
    }
    expect(narrow.stdout.split('\n').filter((line) => widthOf(line) > 80)).toEqual([]);
    expect(narrow.stdout.split('\n')).toContain(`  ${event.id}`);
    expect((await letters())[0]?.event.subject).toBe(HOSTILE);
  });

  it.each([
    [['drop'], 'dead drop: give ids of events, subscription, types, reason or all.'],
    [['show'], 'missing required argument \'ids\'. See "changefeed dead --help".'],
    [['show', 'evt_1'], 'There is no dead letter evt_1. "changefeed dead list" shows the ids.'],
    [['list', '--subscription', 'x'], 'There is no subscription "x". Known: "books", "mail".'],
  ])('dead letters: %j does nothing and ends with exit code 2', async (args, sentence) => {
    const { run } = await afterDeaths([]);
    expect(await run(args)).toEqual({ code: 2, stdout: '', stderr: `changefeed: ${sentence} [CF_USAGE]\n` });
  });
});
