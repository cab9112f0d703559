/** Commands while the configuration was changed to one that is refused, with the whole command line and a running service. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { useCli } from '../support/cli.js';
import { eventually } from '../support/eventually.js';
import { startOtherCrm } from '../support/other-crm.js';
import { useRedis } from '../support/redis.js';

const test = useRedis();
const cli = useCli();

it('configuration: one that is refused takes no tool away that needs Redis only', { timeout: 120_000 }, async () => {
  const crm = await startOtherCrm();
  const secret = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;
  const subscriptions = [
    { handler: 'ndjson', name: 'ops', path: 'out.ndjson', where: { 'after.이름': 'nobody' } },
    { handler: 'webhook', name: 'hook', url: 'https://hook.example/secret-path', secret, on: ['crm.todo.*'] },
  ];
  const valid = {
    workspaces: [{ name: 'acme', baseUrl: crm.url, token: crm.token }],
    redis: { prefix: test.keys.prefix },
    http: { enabled: false },
    subscriptions,
  };
  const folder = await cli({ 'changefeed.config.json': valid });
  const env = { REDIS_URL: test.url };
  const write = (text: string) => writeFile(join(folder.cwd, 'changefeed.config.json'), text);
  const call = async (...args: string[]) => await folder.call(args, env);
  const invalid = { ...valid, subscriptions: [{ ...subscriptions[0], on: ['crm.persn.*'] }, subscriptions[1]] };

  await write(JSON.stringify(invalid));
  expect(await call('status')).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('[CF_CONFIG_INVALID]') as string,
  });

  await write(JSON.stringify(valid));
  folder.start(['start'], env);
  await eventually(async () => expect(await test.redis.exists(test.keys.configuration())).toBe(1), {
    timeoutMs: 60_000,
  });
  const kept = (await test.redis.get(test.keys.configuration())) ?? '';
  for (const hidden of [crm.token, secret, 'secret-path']) expect(kept).not.toContain(hidden);

  await write(JSON.stringify(invalid));
  const named =
    /^The configuration is not valid \(.*subscriptions\[0\].*\): the one that runs since 2\d{3}-.*Z is used\.$/m;
  const paused = await call('pause', 'ops', '--reason', 'a mistake');
  expect(paused).toMatchObject({ code: 0, stderr: expect.stringMatching(named) as string });
  const { code, stdout, stderr } = await call('status', '--json');
  expect({ code, stderr }).toEqual({ code: 0, stderr: expect.stringMatching(named) as string });
  expect(JSON.parse(stdout)).toMatchObject({
    workspaces: [{ name: 'acme' }],
    subscriptions: [
      { name: 'ops', handler: 'ndjson', paused: { reason: 'a mistake' } },
      { name: 'hook', handler: 'webhook' },
    ],
  });
  for (const args of [['deliveries'], ['dead', 'list'], ['subscriptions', 'list'], ['resume', 'ops'], ['held']])
    expect({ args, code: (await call(...args)).code }).toEqual({ args, code: 0 });
  expect((await call('tail', '--no-follow', '--from', 'beginning')).code).toBe(0);
  expect((await call('subscriptions', 'show', 'nobody')).code).toBe(2);
  for (const args of [['doctor'], ['start'], ['sweep'], ['try', 'ops'], ['webhook', 'test', 'hook']])
    expect({ args, code: (await call(...args)).code }).toEqual({ args, code: 2 });

  await write('{ "workspaces": [');
  expect(await call('subscriptions', 'list')).toMatchObject({ code: 2 });
});
