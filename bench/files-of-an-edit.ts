/**
 * Which source files one edit of one record needs, in each of three edits: a service with default options and one webhook against the sandbox. V8 counts the
 * calls of every function, in a quiet stretch and from the edit to the webhook. A file counts if one of its functions ran after the edit
 * and not in the quiet stretch. The sandbox has its own process, so it does not count.
 */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { Session } from 'node:inspector/promises';
import type { AddressInfo } from 'node:net';
import { extname } from 'node:path';
import { openChangefeed } from '../src/service/changefeed.js';
import { parseConfig } from '../src/config/parse.js';
import { systemClock } from '../src/kit/clock.js';
import { atMost, type Bench } from './support/bench.js';
import type { SandboxAddress } from './support/sandbox-child.js';
import { withRedis } from './support/stage.js';

/** Longer than a minute: what runs once a minute belongs to a quiet service. */
const QUIET_SECONDS = 90;
const PEOPLE = 100;
/** What does not run for each of them belongs to something else that happened meanwhile. */
const EDITS = 3;
const SECRET = `whsec_${Buffer.alloc(32, 'k').toString('base64')}`;
const ROOT = new URL('..', import.meta.url).href;

export const filesOfAnEdit: Bench = {
  name: 'files-of-an-edit',
  does: 'source files that run a function for one edit which a quiet service does not run',
  records: [PEOPLE],
  run: async ({ records: [people = PEOPLE], more }) =>
    await withRedis(async (_redis, redisUrl) => {
      const crm = await startSandbox(people);
      const receiver = await startReceiver();
      const feed = await openChangefeed({ config: configOf(crm.address, receiver.url, redisUrl) });
      try {
        await feed.sweep();
        await feed.start();
        const coverage = await startCoverage();
        const quiet = await coverage.during(async () => {
          await systemClock.sleep(Number(more['seconds'] ?? QUIET_SECONDS) * 1_000);
          // How the benchmark waits is no part of an edit.
          await feed.waitUntilHandled({ timeoutMs: 60_000 });
        });
        const edits: ReadonlySet<string>[] = [];
        for (let nth = 0; nth < EDITS; nth += 1) {
          const edited = await coverage.during(async () => {
            const delivered = receiver.next();
            crm.edit();
            await delivered;
            await feed.waitUntilHandled({ timeoutMs: 60_000 });
          });
          edits.push(new Set(filesOf([...edited].filter((one) => !quiet.has(one)))));
        }
        const [first, ...others] = edits;
        const files = [...(first ?? [])].filter((file) => others.every((edit) => edit.has(file)));
        return {
          median: files.length,
          unit: 'files',
          ratios: { files: files.length },
          goals: { files: atMost(38) },
          facts: { list: files },
        };
      } finally {
        await feed.stop();
        await receiver.close();
        crm.close();
      }
    }),
};

function configOf({ url, token }: SandboxAddress, webhookUrl: string, redisUrl: string) {
  const raw = {
    workspaces: [{ name: 'bench', baseUrl: url, token }],
    subscriptions: [{ name: 'hook', handler: 'webhook', url: webhookUrl, secret: SECRET, allowHosts: ['127.0.0.1'] }],
  };
  return parseConfig(raw, { source: 'the benchmark', redisUrl });
}

async function startSandbox(people: number) {
  const child = fork(new URL(`./support/sandbox-child${extname(import.meta.url)}`, import.meta.url), [String(people)]);
  const [address] = (await once(child, 'message')) as [SandboxAddress];
  return { address, edit: () => child.send('edit'), close: () => child.disconnect() };
}

async function startReceiver() {
  const server = createServer((request, response) => {
    request.resume().on('end', () => response.writeHead(204).end());
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    next: () => once(server, 'request'),
    close: async () => {
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
  };
}

/** A function by its script and its place in it. */
async function startCoverage() {
  const session = new Session();
  session.connect();
  await session.post('Profiler.enable');
  await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false });
  return {
    async during(what: () => Promise<unknown>): Promise<ReadonlySet<string>> {
      await session.post('Profiler.takePreciseCoverage');
      await what();
      const { result } = await session.post('Profiler.takePreciseCoverage');
      return new Set(
        result.flatMap(({ url, functions }) =>
          functions.flatMap(({ ranges: [range] }) =>
            range !== undefined && range.count > 0 ? [`${url}#${range.startOffset}`] : [],
          ),
        ),
      );
    },
  };
}

function filesOf(functions: readonly string[]): string[] {
  const paths = functions.map((one) => one.slice(0, one.indexOf('#')).replace(ROOT, '').replace(/\.js$/, '.ts'));
  const isOurs = (path: string): boolean => /^(src|workers)\//.test(path);
  return [...new Set(paths.filter(isOurs))].sort();
}
