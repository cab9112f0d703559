import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Webhook } from 'standardwebhooks';
import { expect, it } from 'vitest';
import { useCli } from '../support/cli.js';
import { useReceivers, type Reply } from '../support/handler-fixtures.js';

const SECRET = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;
const OTHER = `whsec_${Buffer.alloc(32, 8).toString('base64')}`;
const KEY = SECRET.slice('whsec_'.length);
const cli = useCli();
const startReceiver = useReceivers();

const configOf = (url: string): object => {
  const hook = { handler: 'webhook', url, secret: [SECRET, OTHER], allowHosts: ['127.0.0.1'] };
  return {
    workspaces: [{ name: 'acme', baseUrl: 'http://127.0.0.1:1', token: 'tok-5f0c1e9bd2a7' }],
    subscriptions: [
      { ...hook, name: 'ops' },
      { ...hook, name: 'silent', timeout: '100ms' },
    ],
  };
};

it('webhook test: sends one signed test event and reports the outcome, without Redis', async () => {
  const answers: (Reply | 'silence')[] = [
    { status: 200, body: 'hello\nthere' },
    { status: 500, body: `no ${KEY} no` },
    { status: 401, body: 'who are you' },
    'silence',
  ];
  const receiver = await startReceiver(() => answers.shift() ?? {});
  const place = `127.0.0.1:${receiver.port}/in`;
  const folder = await cli({ 'changefeed.config.json': configOf(`${receiver.url}/in?key=sesame-key`) });
  const test = (...args: string[]) => folder.call(['webhook', 'test', ...args]);

  const shown = await test('ops');
  const [first] = receiver.received;
  const headers = first!.headers as Record<string, string>;
  for (const secret of [SECRET, OTHER])
    expect(new Webhook(secret).verify(first!.body, headers)).toMatchObject({ type: 'changefeed.test', subject: 'ops' });
  const [one = '', two = ''] = String(headers['webhook-signature']).split(' ');
  expect(shown).toMatchObject({ code: 0, stderr: '' });
  expect(shown.stdout.replace(/in \d+ ms/, 'in 9 ms')).toBe(
    [
      `accepted  ops: ${place} answered 200 in 9 ms`,
      `secret 1    ${one}`,
      `secret 2    ${two}`,
      `webhook-id  ${String(headers['webhook-id'])}`,
      'type        changefeed.test',
      'answer      hello there',
      '',
    ].join('\n'),
  );
  const problem = (name: string): string => `Webhook "${name}": ${place}`;
  const outcomes = [
    {
      subscription: 'ops',
      outcome: 'refused',
      status: 500,
      body: 'no [hidden] no',
      problem: `${problem('ops')} answered 500.`,
    },
    {
      ...{ subscription: 'ops', outcome: 'refused', status: 401, body: 'who are you' },
      problem: `${problem('ops')} answered 401: the receiver does not accept the signature or the sender; compare the secrets.`,
    },
    {
      subscription: 'silent',
      outcome: 'unreachable',
      status: null,
      problem: `${problem('silent')} did not answer within 100 ms.`,
    },
  ];
  for (const outcome of outcomes) {
    const { code, stdout } = await test(outcome.subscription, '--json');
    expect(code).toBe(1);
    expect(JSON.parse(stdout)).toMatchObject({ place, ...outcome });
    expect(stdout).not.toMatch(new RegExp(`sesame|${KEY}`));
  }
  expect(existsSync(join(folder.cwd, 'state'))).toBe(false);
});

it('webhook test: an unknown name is refused with the names of the subscriptions', async () => {
  const folder = await cli({ 'changefeed.config.json': configOf('https://ops.example/in') });
  const cases: [string[], string][] = [
    [['test', 'opps'], 'There is no subscription "opps" (did you mean "ops"?). Known: ops, silent. [CF_USAGE]'],
    [['tset', 'ops'], 'webhook: found "tset" (did you mean "test"?); allowed: test. [CF_USAGE]'],
  ];
  for (const [args, sentence] of cases) {
    const { code, stdout, stderr } = await folder.call(['webhook', ...args]);
    expect({ code, stdout, stderr }).toEqual({ code: 2, stdout: '', stderr: `changefeed: ${sentence}\n` });
  }
});

it('test event: the command sends one of a real type to each kind of handler, and runs a function only on request', async () => {
  const receiver = await startReceiver();
  const folder = await cli({
    'changefeed.config.mjs': `
      import { defineHandler, message, ndjson, webhook } from 'crm-changefeed';
      const allowHosts = ['127.0.0.1'];
      export default {
        workspaces: [{ name: 'acme', baseUrl: 'http://127.0.0.1:1', token: 'token-5f0c1e9bd2a7' }],
        subscriptions: [
          webhook({ name: 'hook', url: '${receiver.url}/', secret: '${SECRET}', allowHosts, thin: true }),
          message({ name: 'chat', url: '${receiver.url}/', allowHosts, on: ['crm.todo.overdue'] }),
          ndjson({ name: 'file', path: import.meta.dirname + '/out.ndjson' }),
          defineHandler({ name: 'code', handle({ type }) { throw new Error('ran with ' + type); } }),
        ],
      };`,
  });
  const run = (...args: string[]) => folder.call(['webhook', 'test', ...args]);
  const hook = await run('hook', '--type', 'crm.todo.completed', '--json');
  expect(JSON.parse(hook.stdout)).toMatchObject({ outcome: 'accepted', status: 204, type: 'crm.todo.completed' });
  expect(JSON.parse(receiver.received[0]?.body ?? '')).toMatchObject({
    type: 'crm.todo.completed',
    subject: 'test',
    data: { before: null, after: { id: 'test' }, changes: [{ field: '완료', before: false, after: true }] },
  });
  expect((await run('chat')).stdout).toMatch(/^accepted {2}chat: message, crm\.todo\.overdue, \d+ ms\n/);
  expect(receiver.received).toHaveLength(2);
  expect(receiver.received[1]?.body).toContain('테스트 (test)');
  expect((await run('file', '--type', 'crm.person.updated')).code).toBe(0);
  const [line] = (await readFile(join(folder.cwd, 'out.ndjson'), 'utf8')).split('\n');
  expect(JSON.parse(line ?? '')).toMatchObject({ type: 'crm.person.updated', subject: 'test' });
  expect(await run('code')).toMatchObject({ code: 2, stderr: expect.stringContaining('--yes') as unknown });
  const code = await run('code', '--yes');
  expect(code).toMatchObject({ code: 1, stdout: expect.stringContaining('ran with crm.person.created') as unknown });
  expect(await run('hook', '--type', 'crm.todo.complete')).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('did you mean "crm.todo.completed"?') as unknown,
  });
});
