import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { useCli } from '../support/cli.js';
import { eventually } from '../support/eventually.js';
import { appendEvents, changeEvent } from '../support/events.js';
import { useRedis } from '../support/redis.js';

const configOf = (...names: string[]): string => `
  import { defineHandler, PermanentError } from 'crm-changefeed';
  const handle = (_event, { subscription }) => { if (subscription === 'audit') throw new PermanentError('closed'); };
  export default {
    workspaces: [{ name: 'acme', baseUrl: 'http://127.0.0.1:1', token: 'tok-5f0c1e9bd2a7' }],
    redis: { prefix: process.env.PREFIX },
    subscriptions: ${JSON.stringify(names)}.map((name) => defineHandler({ name, start: 'beginning', handle })),
  };`;

describe('subscriptions: the command line', () => {
  const cli = useCli();
  const redis = useRedis();

  it(
    'subscriptions: one that is not configured is forgotten, and no other is touched',
    { timeout: 240_000 },
    async () => {
      const folder = await cli({ 'changefeed.config.mjs': configOf('ops', 'audit') });
      const env = { REDIS_URL: redis.url, PREFIX: redis.keys.prefix };
      const run = (...args: string[]) => folder.run(['subscriptions', ...args], env);
      const stored = async (): Promise<unknown[]> => {
        const { stdout } = await run('list', '--json');
        return stdout.split('\n').flatMap((line) => (line === '' ? [] : [JSON.parse(line) as unknown]));
      };
      await appendEvents(redis, [changeEvent({ record: 'r1', sequence: 1 })]);
      const service = folder.start(['start', '--only', 'dispatch,handle'], env);
      const both = (configured: boolean, workers: number) => [
        { subscription: 'audit', waiting: 0, dead: 1, workers, configured },
        { subscription: 'ops', waiting: 0, dead: 0, workers, configured: true },
      ];
      await eventually(async () => expect(await stored()).toEqual(both(true, 1)));
      expect(await run('forget', 'audit', '--yes')).toMatchObject({
        code: 2,
        stderr:
          'changefeed: subscriptions forget: the configuration has the subscription "audit". Remove it there first. [CF_USAGE]\n',
      });
      // Not this process's configuration, but that of one that runs.
      await writeFile(join(folder.cwd, 'other.config.mjs'), configOf('ops'));
      const other = (...args: string[]) => run(...args, '--config', 'other.config.mjs');
      expect((await other('forget', 'audit', '--yes')).stderr).toContain('1 process handles "audit" now. Stop it');
      await service.kill('SIGTERM');

      expect((await other('forget', 'audit')).stderr).toContain(
        'Without a terminal, confirm it with --yes. [CF_USAGE]',
      );
      expect((await other('forget', 'audit', '--dry-run')).stdout).toBe(
        'This removes everything of the subscription "audit" (0 events waiting, 1 dead), which cannot be undone. Nothing was changed.\n',
      );
      expect(await stored()).toEqual(both(true, 0));
      expect((await other('list')).stdout).toMatch(/^audit +no +0 +1 +0$/m);
      expect(await other('forget', 'audit', '--yes')).toMatchObject({
        code: 0,
        stdout: 'The subscription "audit" is forgotten.\n',
      });
      expect(await stored()).toEqual([{ subscription: 'ops', waiting: 0, dead: 0, workers: 0, configured: true }]);
      expect((await other('forget', 'audit', '--yes')).stderr).toContain(
        'nothing is stored of a subscription "audit". Stored: "ops".',
      );
    },
  );
});
