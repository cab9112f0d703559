/** A file of rules that is gone, empty or not valid: what runs, and what is said. */
import { mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { appendEvents, changeEvent } from '../support/events.js';
import { useCli } from '../support/cli.js';
import { eventually } from '../support/eventually.js';
import { testFolder } from '../support/folder.js';
import { useReceivers } from '../support/handler-fixtures.js';
import { OPERATOR, startPageFeed } from '../support/page-feed.js';
import { useRedis } from '../support/redis.js';

/** Who runs the tests may read everything but a folder. */
function unreadable(folder: string): void {
  rmSync(join(folder, 'rules.json'));
  mkdirSync(join(folder, 'rules.json'));
}

const RULE = { id: 'a', on: ['crm.person.updated'], to: 'chat', template: '{{id}}', mostPerMinute: false };

describe('a file of rules that is absent or not valid', () => {
  const redis = useRedis();
  const startReceiver = useReceivers();
  const cli = useCli();

  const open = async (folder: string) => {
    const { url, received } = await startReceiver(() => ({ status: 200 }));
    const chat = { handler: 'message' as const, url, allowHosts: ['127.0.0.1'], rate: { requests: 1_000 } };
    const page = await startPageFeed(redis, { destinations: { chat }, rules: join(folder, 'rules.json') });
    const problems = async () => (await page.feed.status()).problems.map(({ kind }) => kind);
    const names = async () => (await page.feed.status()).subscriptions.map(({ name }) => name);
    return { ...page, received, problems, names };
  };
  const write = (folder: string, text: string | object): void => {
    writeFileSync(join(folder, 'new'), typeof text === 'string' ? text : JSON.stringify(text));
    renameSync(join(folder, 'new'), join(folder, 'rules.json'));
  };
  const log = (record: string) => appendEvents(redis, [changeEvent({ record, sequence: 1 })]);
  const inFolder = (): string => {
    const folder = join(testFolder(), 'rules');
    mkdirSync(folder);
    write(folder, { rules: [RULE, { ...RULE, id: 'b', enabled: false }] });
    return folder;
  };

  it.each([
    ['is gone', (folder: string) => rmSync(join(folder, 'rules.json'))],
    ['is gone with its folder', (folder: string) => rmSync(folder, { recursive: true })],
    ['is empty', (folder: string) => writeFileSync(join(folder, 'rules.json'), '')],
    ['cannot be read', unreadable],
  ])('rules: where the file %s, they go on, and a problem says so until it is back', async (_how, remove) => {
    const folder = inFolder();
    const { received, problems, names, feed, get, act } = await open(folder);
    remove(folder);
    await eventually(async () => expect(await problems()).toEqual(['rules.missing']));
    expect((await feed.status()).problems[0]).toMatchObject({ severity: 'error', facts: { count: 2 } });
    expect(await names()).toEqual(['rule-a']);
    await log('p1');
    await eventually(() => expect(received).toHaveLength(1));
    expect(await get('/readyz', OPERATOR)).toMatchObject({ problems: ['rules.missing rules'] });
    const { revision, problem } = await get<{ revision: string; problem: string }>('/api/rules');
    expect(problem).toContain('had 2 rules');
    const refused = await act('/api/rules/c', { revision, rule: RULE });
    expect(await refused.json()).toMatchObject({ outcome: 'refused' });

    rmSync(folder, { recursive: true, force: true });
    mkdirSync(folder);
    write(folder, { rules: [RULE] });
    await eventually(async () => expect(await problems()).toEqual([]));
  });

  it('rules: a process that starts without the file says what ran; they go on when it is back, or a person forgets them', async () => {
    const folder = inFolder();
    const first = await open(folder);
    await eventually(async () => expect(await redis.redis.exists(redis.keys.rules())).toBe(1));
    await first.feed.stop();
    renameSync(join(folder, 'rules.json'), join(folder, 'away.json'));
    const second = await open(folder);
    await eventually(async () => expect(await second.problems()).toEqual(['rules.missing']));
    expect((await second.feed.status()).problems[0]?.message).toMatch(/^The 2 rules that ran until .* do not run/);
    await log('p1');
    renameSync(join(folder, 'away.json'), join(folder, 'rules.json'));
    await eventually(() => expect(second.received).toHaveLength(1));
    await eventually(async () => expect(await second.problems()).toEqual([]));

    rmSync(join(folder, 'rules.json'));
    expect(await second.feed.forgetMissingRules()).toEqual({ count: 0 });
    await eventually(async () => expect(await second.problems()).toEqual(['rules.missing']));
    expect(await (await second.act('/api/rules/forget-missing')).json()).toEqual({ count: 2 });
    await eventually(async () => expect([await second.names(), await second.problems()]).toEqual([[], []]));
  });

  it('rules: no file where none was ever there is no problem', async () => {
    const { problems, names } = await open(testFolder());
    await log('p1');
    await eventually(async () => expect([await names(), await problems()]).toEqual([[], []]));
  });

  it('rules: with a configuration that changes while the file is gone they go on; what is not valid is a problem, and commands go on without', async () => {
    const config = (more: object) => ({
      workspaces: [{ name: 'acme', baseUrl: 'http://127.0.0.1:9', token: 'none' }],
      redis: { prefix: redis.keys.prefix },
      http: { enabled: false },
      destinations: { chat: { handler: 'message', url: 'https://chat.example/' } },
      rules: 'rules.json',
      ...more,
    });
    const folder = await cli({ 'changefeed.config.json': config({}), 'rules.json': { rules: [RULE] } });
    const env = { REDIS_URL: redis.url };
    const status = async () => {
      const { stdout } = await folder.call(['status', '--json'], env);
      const { problems } = JSON.parse(stdout) as { problems: { kind: string; subject: string }[] };
      return problems.map(({ kind, subject }) => `${kind} ${subject}`);
    };
    const put = (name: string, text: object | string): void =>
      writeFileSync(join(folder.cwd, name), typeof text === 'string' ? text : JSON.stringify(text));
    const service = folder.start(['start'], { ...env, LOG_LEVEL: 'info' });
    await service.waitForLine(/changefeed is running/);
    rmSync(join(folder.cwd, 'rules.json'));
    put('changefeed.config.json', config({ log: { retention: { age: '20d' } } }));
    await service.waitForLine(/changefeed restarts/);
    await eventually(() => expect(service.stderr.match(/"subscriptions":\["rule-a"\]/g)).toHaveLength(2));
    await eventually(async () => expect(await status()).toContain('rules.missing rules'));

    put('rules.json', '{ "rules": [');
    await eventually(async () => expect(await status()).toContain('configuration.refused rules'));
    const { stderr, code } = await folder.call(['pause', 'rule-a'], env);
    expect(stderr).toMatch(/^Rules are left out: rules\.json:1:\d+: it cannot be read as JSON/);
    expect(code).toBe(2);
    put('rules.json', { rules: [RULE, { ...RULE, id: 'b', to: 'gone' }] });
    expect(await folder.call(['pause', 'rule-a'], env)).toMatchObject({ code: 0 });
    put('rules.json', { rules: [RULE] });
    put('changefeed.config.json', config({ destinations: {} }));
    await eventually(async () => expect(await status()).toContain('configuration.refused configuration'));
    put('changefeed.config.json', config({}));
    await eventually(async () => expect(await status()).not.toContain('configuration.refused configuration'));
  });
});
