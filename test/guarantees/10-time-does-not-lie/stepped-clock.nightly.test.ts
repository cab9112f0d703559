/** A clock that is set while a service polls, retries, merges and handles: real processes, whose `Date` alone moves. */
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { ChangeEvent } from '../../../src/events/types.js';
import { systemClock } from '../../../src/kit/clock.js';
import { useCli } from '../../support/cli.js';
import { eventually } from '../../support/eventually.js';
import { eventsIn } from '../../support/ndjson.js';
import { startOtherCrm, type OtherCrm } from '../../support/other-crm.js';
import { startPrivateRedis } from '../../support/redis.js';

const STEPPED = new URL('../../support/stepped-date.mjs', import.meta.url).href;
const MINUTE_MS = 60_000;
const SLOW_MS = 40_000;

/** `/flaky` answers 500 until it is well; `/slow` takes longer than the lock of a job lasts. */
async function startReceiver() {
  const received: string[] = [];
  const accepted: string[] = [];
  const receiver = { isWell: false, received, accepted, url: '' };
  const answer = async (path: string, response: ServerResponse, id: string): Promise<void> => {
    received.push(`${path} ${id}`);
    if (path === '/slow') await systemClock.sleep(SLOW_MS);
    const isAccepted = path === '/slow' || receiver.isWell;
    response.writeHead(isAccepted ? 200 : 500).end();
    if (isAccepted) accepted.push(`${path} ${id}`);
  };
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const { subject } = JSON.parse(Buffer.concat(chunks).toString()) as ChangeEvent;
      void answer(request.url ?? '', response, subject);
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  receiver.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return receiver;
}

const configOf = (crm: OtherCrm, receiver: string): object => {
  const on = ['crm.person.updated'];
  const post = { handler: 'webhook', on, secret: `whsec_${'A'.repeat(32)}`, allowHosts: ['127.0.0.1'] };
  return {
    workspaces: [{ name: 'acme', baseUrl: crm.url, token: crm.token, budget: { requests: 10_000, perSeconds: 1 } }],
    subscriptions: [
      { handler: 'ndjson', name: 'records', path: 'records.ndjson', on },
      { handler: 'ndjson', name: 'feed', path: 'feed.ndjson', on: ['changefeed.*'] },
      { handler: 'ndjson', name: 'merged', path: 'merged.ndjson', on, settle: '3s' },
      { ...post, name: 'flaky', url: `${receiver}/flaky`, retry: { attempts: 50, delay: '1s', maxDelay: '2s' } },
      { ...post, name: 'slow', url: `${receiver}/slow`, timeout: '90s' },
    ],
    http: { enabled: false },
  };
};

describe('time does not lie: a clock that is set', { timeout: 240_000 }, () => {
  const cli = useCli();

  it.each([1, 2].flatMap((processes) => [-10, -120, 540].map((minutes) => [minutes, processes] as const)))(
    'time does not lie: by %i min in one of %i processes, nothing waits for it and it is said within a minute',
    async (minutes, processes) => {
      const [crm, receiver, redis] = [await startOtherCrm(), await startReceiver(), await startPrivateRedis()];
      const folder = await cli({ 'changefeed.config.json': configOf(crm, receiver.url), step: '0' });
      const idsIn = (file: string, key: 'subject' | 'type' = 'subject'): string[] =>
        eventsIn(join(folder.cwd, file)).map((event) => event[key]);
      const edit = (at: number): string => {
        const person = crm.lists.people[at]!;
        crm.lists.people[at] = { ...person, 메모: `edited ${at}`, '수정 날짜': new Date().toISOString() };
        return person.id;
      };
      const env = {
        REDIS_URL: redis.url,
        NODE_OPTIONS: `--import ${STEPPED}`,
        CLOCK_STEP_FILE: join(folder.cwd, 'step'),
      };
      const services = [folder.start(['start'], env)];
      if (processes > 1) services.push(folder.start(['start'], { REDIS_URL: redis.url }));
      await Promise.all(services.map((one) => one.waitForLine(/"sweep complete"|sweep complete/u, MINUTE_MS)));
      await eventually(
        async () => expect((await folder.run(['status', '--check'], { REDIS_URL: redis.url })).code).toBe(0),
        {
          timeoutMs: MINUTE_MS,
        },
      );

      const before = edit(0);
      const eventuallyIn = (list: readonly string[], ...wanted: string[]) =>
        eventually(() => expect(list).toEqual(expect.arrayContaining(wanted)), { timeoutMs: MINUTE_MS });
      await eventuallyIn(receiver.received, `/flaky ${before}`, `/slow ${before}`);
      const merging = edit(1);
      await eventuallyIn(receiver.received, `/flaky ${merging}`);
      await writeFile(join(folder.cwd, 'step'), String(minutes * MINUTE_MS));
      const after = edit(2);
      await eventually(() => expect(idsIn('records.ndjson')).toContain(after), { timeoutMs: 10_000 });
      receiver.isWell = true;
      const all = [before, merging, after];
      await Promise.all([
        eventuallyIn(receiver.accepted, ...all.map((id) => `/flaky ${id}`)),
        eventually(() => expect(idsIn('merged.ndjson')).toEqual(expect.arrayContaining(all)), {
          timeoutMs: MINUTE_MS,
        }),
        eventually(() => expect(idsIn('feed.ndjson', 'type')).toContain('changefeed.clock.stepped'), {
          timeoutMs: MINUTE_MS,
        }),
      ]);
      // Handlers that ran over the step have ended, and none has begun beside one or again.
      await eventuallyIn(receiver.accepted, ...all.map((id) => `/slow ${id}`));
      expect(receiver.received.filter((one) => one.startsWith('/slow')).sort()).toEqual(
        all.map((id) => `/slow ${id}`).sort(),
      );
    },
  );
});
