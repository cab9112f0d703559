import { existsSync } from 'node:fs';
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
