/**
 * Does the sandbox cost more than sending bytes? Pages of a still list, from the sandbox and from a bare `node:http`
 * server that sends the same bytes, each in a process of its own, asked by the same client; and the memory of a world
 * of a million records. Prints JSON. `npm run bench -- sandbox`
 */
import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { fileURLToPath } from 'node:url';
import { Pool } from 'undici';
import { createSandbox } from '../sandbox/sandbox.js';

const HEADERS = { authorization: 'Bearer sandbox', 'content-type': 'application/json' };
const ROUNDS = 5;
const REQUESTS = 4_000;
const IN_FLIGHT = 8;
const PAGES = 20;

interface Started {
  url: string;
  rssMb: number;
  startMs: number;
}

interface Page {
  path: string;
  bytes: number;
}

/** Requests per second over pages asked in turn. */
async function rate(url: string, paths: readonly string[]): Promise<number> {
  const pool = new Pool(url, { connections: IN_FLIGHT });
  let asked = 0;
  const ask = async (): Promise<void> => {
    while (asked < REQUESTS) {
      const path = paths[asked++ % paths.length] ?? '/';
      const { body } = await pool.request({ path, method: 'GET', headers: HEADERS });
      await body.arrayBuffer();
    }
  };
  const started = performance.now();
  await Promise.all(Array.from({ length: IN_FLIGHT }, ask));
  const seconds = (performance.now() - started) / 1_000;
  await pool.close();
  return REQUESTS / seconds;
}

async function pagesOf(url: string): Promise<Page[]> {
  const pages: Page[] = [];
  let cursor: string | null = null;
  do {
    const path: string = `/v2/people${cursor === null ? '' : `?cursor=${cursor}`}`;
    const body = await (await fetch(`${url}${path}`, { headers: HEADERS })).arrayBuffer();
    pages.push({ path, bytes: body.byteLength });
    cursor = (JSON.parse(Buffer.from(body).toString()) as { data: { nextCursor: string | null } }).data.nextCursor;
  } while (cursor !== null && pages.length < PAGES);
  return pages;
}

const median = (values: readonly number[]): number =>
  [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;

async function child(role: string, ...rest: string[]): Promise<{ process: ChildProcess; started: Started }> {
  const process = fork(fileURLToPath(import.meta.url), [role, ...rest]);
  const [started] = (await once(process, 'message')) as [Started];
  return { process, started };
}

async function main(): Promise<void> {
  const sandbox = await child('sandbox', '1000');
  const pages = await pagesOf(sandbox.started.url);
  const bare = await child('bare', sandbox.started.url, ...pages.map(({ path }) => path));
  const paths = pages.map(({ path }) => path);
  const rates = { sandbox: [] as number[], bare: [] as number[] };
  for (let round = 0; round <= ROUNDS; round++) {
    // In turn, so that a busy machine hinders both alike; the first round warms up.
    const [ours, theirs] = [await rate(sandbox.started.url, paths), await rate(bare.started.url, paths)];
    if (round === 0) continue;
    rates.sandbox.push(ours);
    rates.bare.push(theirs);
  }
  sandbox.process.kill();
  bare.process.kill();
  const million = await child('sandbox', '0', '1000000');
  million.process.kill();
  const result = {
    bytesPerPage: Math.round(pages.reduce((sum, { bytes }) => sum + bytes, 0) / pages.length),
    requestsPerSecond: { sandbox: Math.round(median(rates.sandbox)), bareNodeHttp: Math.round(median(rates.bare)) },
    share: Number((median(rates.sandbox) / median(rates.bare)).toFixed(2)),
    millionRecords: { startMs: million.started.startMs, rssMb: million.started.rssMb },
  };
  console.log(JSON.stringify(result, null, 2));
}

async function serveSandbox(people: number, records: number | undefined): Promise<void> {
  const started = performance.now();
  const sandbox = createSandbox({
    limit: null,
    start: Date.UTC(2026, 0, 1),
    ...(records === undefined ? { people } : { records }),
  });
  const { url } = await sandbox.start();
  tell(url, performance.now() - started);
}

async function serveBare(from: string, paths: readonly string[]): Promise<void> {
  const bodies = new Map<string, Buffer>();
  for (const path of paths)
    bodies.set(path, Buffer.from(await (await fetch(`${from}${path}`, { headers: HEADERS })).arrayBuffer()));
  const server = createServer((request, response) => {
    const body = bodies.get(request.url ?? '') ?? Buffer.alloc(0);
    response.writeHead(200, { 'content-type': 'application/json; charset=utf-8', 'content-length': body.length });
    response.end(body);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  tell(`http://127.0.0.1:${(server.address() as AddressInfo).port}`, 0);
}

function tell(url: string, startMs: number): void {
  const rssMb = Math.round(process.memoryUsage().rss / 1_000_000);
  process.send?.({ url, rssMb, startMs: Math.round(startMs) } satisfies Started);
}

const [role, ...rest] = process.argv.slice(2);
if (role === 'sandbox') await serveSandbox(Number(rest[0]), rest[1] === undefined ? undefined : Number(rest[1]));
else if (role === 'bare') await serveBare(rest[0] ?? '', rest.slice(1));
else await main();
