import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { useCli } from '../support/cli.js';
import { eventually } from '../support/eventually.js';
import { startOtherCrm } from '../support/other-crm.js';
import { useRedis } from '../support/redis.js';

const FILE = 'changefeed.config.json';
const NEVER = 'subscription can never match';
const UNPOLLED = 'subscription selects only lists that are disabled';

describe('config warnings of a process', () => {
  const redis = useRedis();
  const cli = useCli();
  const env = (): Record<string, string> => ({ REDIS_URL: redis.url });

  async function folderWith(...subscriptions: object[]) {
    const crm = await startOtherCrm();
    const configOf = (...given: object[]): object => ({
      workspaces: [{ name: 'acme', baseUrl: crm.url, token: crm.token, lists: { todo: { enabled: false } } }],
      subscriptions: given.map((one) => ({ handler: 'ndjson', path: 'events.ndjson', ...one })),
      redis: { prefix: redis.keys.prefix },
    });
    const folder = await cli({ [FILE]: configOf(...subscriptions) });
    const rewrite = (...given: object[]): Promise<void> =>
      writeFile(join(folder.cwd, FILE), JSON.stringify(configOf(...given)));
    return { folder, rewrite };
  }
  const warnings = (stderr: string, message: string): Record<string, unknown>[] =>
    stderr
      .split('\n')
      .filter((line) => line.includes(`"${message}"`))
      .map((line) => JSON.parse(line) as Record<string, unknown>);
  const DONE = { name: 'done', on: ['crm.todo.completed'] };

  it('config warnings: start logs one per subscription that can receive nothing, and so does a restart by a changed file', async () => {
    const { folder, rewrite } = await folderWith(DONE, { name: 'all' });
    const running = folder.start(['start'], env());
    await eventually(() => expect(running.stderr).toContain('changefeed is running'));
    const disabled = 'these lists are disabled: "todo" in acme';
    expect(warnings(running.stderr, UNPOLLED)).toMatchObject([
      { level: 'warn', subscription: 'done', reason: disabled, remedy: 'enable one of them, or change its on' },
    ]);
    expect(warnings(running.stderr, 'todos cannot be watched as configured')).toMatchObject([{ workspace: 'acme' }]);

    await rewrite({ name: 'all' }, { name: 'merged', on: ['crm.memo.*'], lists: ['people'] });
    await eventually(() => expect(running.stderr.split('changefeed is running')).toHaveLength(3));
    expect(warnings(running.stderr, NEVER)).toMatchObject([
      { subscription: 'merged', reason: 'nothing that its on selects (crm.memo.*) exists in its lists (people)' },
    ]);
    expect((await running.kill('SIGTERM')).code).toBe(0);
  });

  it('config warnings: the command todos fails with the remedy when the list todo is disabled', async () => {
    const { folder } = await folderWith({ name: 'all' });
    expect(await folder.call(['todos'], env())).toMatchObject({
      code: 2,
      stderr: expect.stringContaining(
        'The list "todo" is disabled (acme), so there is nothing to count. Set lists.todo.enabled to true and run: changefeed sweep todo.',
      ) as string,
    });
  });
});
