/**
 * The webhook against receivers in two languages, each a process of its own, as they stand in `examples/`: one with the
 * official package, one that was written after the specification in another language and shares no line with the sender.
 */
import { spawnSync } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import { createSigner, encodeEvent, webhook } from '../../../src/delivery/handlers/webhook/webhook.js';
import { handlerContext, sampleEvent } from '../../support/handler-fixtures.js';
import { useProcesses, type TestProcess } from '../../support/process.js';

const secretOf = (byte: number): string => `whsec_${Buffer.alloc(32, byte).toString('base64')}`;
const [NEW, OTHER] = [secretOf(2), secretOf(3)];
const hasPython = spawnSync('python3', ['--version']).status === 0;
const spawn = useProcesses();

const RECEIVERS = [
  { language: 'JavaScript, with the official package', file: 'receiver.mjs', missing: false },
  {
    language: hasPython ? 'Python' : 'Python (skipped: there is no python3 on this machine)',
    file: 'receiver.py',
    program: 'python3',
    missing: !hasPython,
  },
];

describe.each(RECEIVERS)('a receiver in $language', ({ file, program, missing }) => {
  async function startReceiver(...secrets: string[]): Promise<{ url: string; receiver: TestProcess }> {
    const script = new URL(`../../../examples/${file}`, import.meta.url);
    const env = { HOOK_SECRET: secrets.join(' '), PORT: '0' };
    const receiver = spawn(script, { env, ...(program !== undefined && { program }) });
    const line = await receiver.waitForLine(/^listening on port/);
    return { url: `http://127.0.0.1:${line.split(' ').at(-1)}/hooks`, receiver };
  }

  async function deliver(url: string, options: { secret: string[] }): Promise<string> {
    const subscription = webhook({ name: 'ops', url, allowHosts: ['127.0.0.1'], ...options });
    try {
      await subscription.handle(sampleEvent('고객 "1" 100%'), handlerContext());
      return 'accepted';
    } catch (error) {
      return (error as Error).message.replace(/^.*answered /, '');
    } finally {
      await subscription.close?.();
    }
  }

  it.skipIf(missing)('verifies an event and reads it, once however often it comes', async () => {
    const { url, receiver } = await startReceiver(NEW);
    expect(await deliver(url, { secret: [NEW] })).toBe('accepted');
    expect(await deliver(url, { secret: [NEW] })).toBe('accepted');
    await receiver.waitForLine(/^\{/);
    const lines = receiver.stdout.split('\n').filter((line) => line.startsWith('{'));
    expect(lines.map((line) => JSON.parse(line) as object)).toEqual([sampleEvent('고객 "1" 100%')]);
  });

  it.skipIf(missing)(
    'refuses what is not as it was signed, and what was signed too long ago or too far ahead',
    async () => {
      const { url } = await startReceiver(NEW);
      const message = encodeEvent(sampleEvent(), { format: 'json', headers: {} });
      const minutes = (count: number): number => Date.now() + count * 60_000;
      const send = async (changes: {
        headers?: object;
        body?: string;
        now?: number;
        secret?: string;
      }): Promise<number> => {
        const sign = createSigner([changes.secret ?? NEW]);
        const { headers, body } = sign(message, changes.now ?? minutes(0));
        const request = { method: 'POST', headers: { ...headers, ...changes.headers }, body: changes.body ?? body };
        return (await fetch(url, request)).status;
      };
      const outcomes = {
        asItIs: await send({}),
        fourMinutesOld: await send({ now: minutes(-4) }),
        fourMinutesAhead: await send({ now: minutes(4) }),
        sixMinutesOld: await send({ now: minutes(-6) }),
        sixMinutesAhead: await send({ now: minutes(6) }),
        anotherBody: await send({ body: message.body.replace('edited', 'edibed') }),
        aByteMore: await send({ body: `${message.body} ` }),
        anotherId: await send({ headers: { 'webhook-id': 'evt_2' } }),
        anotherTime: await send({ headers: { 'webhook-timestamp': String(Math.floor(minutes(1) / 1_000)) } }),
        noTime: await send({ headers: { 'webhook-timestamp': '' } }),
        noSignature: await send({ headers: { 'webhook-signature': '' } }),
        anotherVersion: await send({ headers: { 'webhook-signature': 'v2,AAAA' } }),
        anotherSecret: await send({ secret: OTHER }),
      };
      const accepted = { asItIs: 204, fourMinutesOld: 204, fourMinutesAhead: 204 };
      const refused = Object.fromEntries(Object.keys(outcomes).map((what) => [what, 401]));
      expect(outcomes).toEqual({ ...refused, ...accepted });
    },
  );
});
