/** How a service ends: within its limit, whatever hangs, and at once when it is asked twice. */
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { createServer as createTcpServer, type AddressInfo } from 'node:net';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { useCli } from '../support/cli.js';
import { eventually } from '../support/eventually.js';
import { isGate, rowsOfGate } from '../support/night.js';
import { startOtherCrm, type OtherCrm } from '../support/other-crm.js';
import type { TestProcess } from '../support/process.js';
import { useRedis } from '../support/redis.js';

/** A handler that ends when the file `released` exists, and ignores its signal. */
const HANDLER = `defineHandler({ name: 'out', async handle(event) {
  writeSync(1, 'begins ' + event.id + '\\n');
  while (!existsSync('released')) await new Promise((resolve) => setTimeout(resolve, 20));
  writeSync(1, 'ends ' + event.id + '\\n');
} })`;
const LOADING = `console.log('loading'); await new Promise(() => setInterval(() => {}, 1000));`;

describe('stop: a service', () => {
  const cli = useCli();
  const redis = useRedis();

  async function folderOf({ url, token }: Pick<OtherCrm, 'url' | 'token'>) {
    const workspace = { name: 'acme', baseUrl: url, token, lists: { people: { interval: '1s' } } };
    const folder = await cli({
      'changefeed.config.mjs': `
        import { existsSync, writeSync } from 'node:fs';
        import { defineHandler } from 'crm-changefeed';
        export default {
          workspaces: [${JSON.stringify(workspace)}],
          redis: { prefix: ${JSON.stringify(redis.keys.prefix)} },
          http: { port: 0 },
          subscriptions: [${HANDLER}],
        };`,
    });
    return {
      cwd: folder.cwd,
      release: () => writeFileSync(join(folder.cwd, 'released'), ''),
      start: (env = {}) => folder.start(['start'], { REDIS_URL: redis.url, ...env }),
    };
  }
  const hasBaseline = async (service: TestProcess): Promise<TestProcess> => {
    await service.waitForLine(/"list":"people".*"sweep complete"/);
    return service;
  };
  const linesOf = ({ stdout }: TestProcess, word: 'begins' | 'ends'): string[] =>
    stdout
      .split('\n')
      .filter((line) => line.startsWith(word))
      .map((line) => line.slice(word.length + 1));
  const edit = (crm: OtherCrm): void => {
    crm.lists.people[0] = { ...crm.lists.people[0]!, 이름: crypto.randomUUID() };
  };
  async function handling(crm: OtherCrm, service: TestProcess): Promise<TestProcess> {
    await hasBaseline(service);
    edit(crm);
    await eventually(() => expect(linesOf(service, 'begins')).toHaveLength(1));
    return service;
  }

  it.skipIf(isGate)('stop: a CRM that does not answer does not delay it', async () => {
    let asked = 0;
    const silent = createServer(() => (asked += 1)).listen(0, '127.0.0.1');
    await once(silent, 'listening');
    onTestFinished(() => {
      silent.closeAllConnections();
      silent.close();
    });
    const { port } = silent.address() as AddressInfo;
    const service = (await folderOf({ url: `http://127.0.0.1:${port}`, token: 'a-token' })).start();
    await service.waitForLine(/changefeed is running/);
    await eventually(() => expect(asked).toBeGreaterThan(0));
    expect(await service.kill('SIGTERM')).toEqual({ code: 0, signal: null });
    expect(service.stderr).not.toMatch(/"level":"(warn|error)"/);
  });

  it('stop: an open stream of events does not delay it', async () => {
    const service = (await folderOf(await startOtherCrm())).start();
    const line = JSON.parse(await service.waitForLine(/status page is served/)) as { url: string; tokenFile: string };
    const authorization = `Bearer ${readFileSync(line.tokenFile, 'utf8')}`;
    await hasBaseline(service);
    const stream = await fetch(`${line.url}/events`, { headers: { authorization, accept: 'text/event-stream' } });
    expect(stream.status).toBe(200);
    expect(await service.kill('SIGTERM')).toEqual({ code: 0, signal: null });
  });

  it('stop: a handler that is running may finish, and its event is not handled again', async () => {
    const crm = await startOtherCrm();
    const folder = await folderOf(crm);
    const service = await handling(crm, folder.start());
    const ended = service.kill('SIGTERM');
    await service.waitForLine(/changefeed is stopping/);
    folder.release();
    expect(await ended).toEqual({ code: 0, signal: null });
    expect(linesOf(service, 'ends')).toEqual(linesOf(service, 'begins'));

    const next = await handling(crm, folder.start());
    expect(linesOf(next, 'begins')).not.toEqual(linesOf(service, 'begins'));
    expect(await next.kill('SIGTERM')).toEqual({ code: 0, signal: null });
  });

  it('stop: a handler that does not end is named, the exit code is 1, and its event is handled again', async () => {
    const crm = await startOtherCrm();
    const folder = await folderOf(crm);
    const service = await handling(crm, folder.start());
    expect(await service.kill('SIGTERM')).toEqual({ code: 1, signal: null });
    expect(service.stderr).toMatch(/"level":"warn".*"subscriptions":\["out"\].*handlers still run/);
    expect(service.stderr).toMatch(
      /^changefeed: The stop was not clean: handlers failed to stop: The handlers of "out" did not end within 8 s, although their signal was aborted\. Unfinished work is repeated after the next start\. \[CF_STOP_TIMEOUT\]\n$/m,
    );
    expect(linesOf(service, 'ends')).toEqual([]);

    folder.release();
    const next = folder.start();
    await eventually(() => expect(linesOf(next, 'ends')).toEqual(linesOf(service, 'begins')));
    expect(await next.kill('SIGTERM')).toEqual({ code: 0, signal: null });
  });

  it.each(
    rowsOfGate(1, [
      ['SIGTERM', 143],
      ['SIGINT', 130],
    ] as const),
  )('stop: a second signal ends it at once (%s)', async (second, code) => {
    const crm = await startOtherCrm();
    const service = await handling(crm, (await folderOf(crm)).start());
    void service.kill('SIGTERM');
    await service.waitForLine(/changefeed is stopping/);
    expect(await service.kill(second)).toEqual({ code, signal: null });
    expect(service.stderr).toContain(
      `changefeed: a second signal (${second}) ended the process at once. Unfinished work is repeated after the next start. [CF_STOP_TIMEOUT]\n`,
    );
  });

  it.each(rowsOfGate(1, ['SIGTERM', 'SIGINT'] as const))(
    'stop: %s ends a service at once that waits for a silent Redis at its beginning',
    async (signal) => {
      let connected = 0;
      const silent = createTcpServer(() => (connected += 1)).listen(0, '127.0.0.1');
      await once(silent, 'listening');
      onTestFinished(() => void silent.close());
      const { port } = silent.address() as AddressInfo;
      const crm = await startOtherCrm();
      const service = (await folderOf(crm)).start({ REDIS_URL: `redis://127.0.0.1:${port}` });
      await eventually(() => expect(connected).toBe(1));
      expect(await service.kill(signal)).toEqual({ code: 0, signal: null });
      expect(service.stderr).toContain('Stopped while the service was not running.\n');
    },
  );

  it.skipIf(isGate)('stop: a configuration that never finishes loading does not prevent it', async () => {
    const folder = await folderOf(await startOtherCrm());
    const service = await hasBaseline(folder.start());
    writeFileSync(join(folder.cwd, 'changefeed.config.mjs'), LOADING);
    process.kill(service.pid, 'SIGHUP');
    await service.waitForLine(/^loading$/);
    expect(await service.kill('SIGTERM')).toEqual({ code: 0, signal: null });
  });

  it.skipIf(isGate)('stop: a command that does not end is ended after 25 s', async () => {
    const folder = await cli({ 'changefeed.config.mjs': LOADING });
    const status = folder.start(['status']);
    await status.waitForLine(/^loading$/);
    expect(await status.kill('SIGTERM')).toEqual({ code: 1, signal: null });
    expect(status.stderr).toMatch(/^changefeed: the stop took longer than 25 s\. .*\[CF_STOP_TIMEOUT\]$/m);
  });
});
