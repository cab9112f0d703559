/** Two processes that do all the work of a history, of which one is killed now and then. Their receivers are webhooks of the test's process. */
import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import type { ChangeEvent } from '../../src/events/types.js';
import { child } from '../support/program.js';
import { tsxLoader } from '../support/spawned.js';
import type { Receiver } from './receivers.js';

export interface CopyTask {
  config: object;
  redisUrl: string;
  clock: { factor: number; nowMs: number; atMs: number };
  skippedMs: number;
  steppedMs: number;
}

const PROCESSES = 2;

export class Processes {
  #running: ChildProcess[] = [];

  async start(task: CopyTask): Promise<void> {
    this.#running = await Promise.all(Array.from({ length: PROCESSES }, () => launch(task)));
  }

  /** `kill -9` of one of them, and another one in its place. */
  async kill(nth: number, task: CopyTask): Promise<void> {
    const at = nth % PROCESSES;
    const killed = this.#running[at];
    if (killed === undefined) return;
    await ended(killed, 'SIGKILL');
    this.#running[at] = await launch(task);
  }

  tell(change: { skip?: number; step?: number }): void {
    for (const process of this.#running) process.send(change);
  }

  async stop(): Promise<void> {
    await Promise.all(this.#running.splice(0).map((process) => ended(process, 'SIGTERM')));
  }
}

async function launch(task: CopyTask): Promise<ChildProcess> {
  const script = child(fileURLToPath(new URL('./copy-child.ts', import.meta.url)));
  const started = fork(script, {
    env: { ...process.env, COPY_TASK: JSON.stringify(task) },
    execArgv: script.endsWith('.ts') ? ['--import', tsxLoader] : [],
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  });
  await Promise.race([once(started, 'message'), failed(started)]);
  return started;
}

async function failed(started: ChildProcess): Promise<never> {
  const [code] = (await once(started, 'exit')) as [number | null];
  throw new Error(`a process of the history ended with ${String(code)}`);
}

async function ended(process: ChildProcess, signal: 'SIGKILL' | 'SIGTERM'): Promise<void> {
  if (process.exitCode !== null || process.signalCode !== null) return;
  const exited = once(process, 'exit');
  process.kill(signal);
  await exited;
}

/** Where the processes post what they deliver: a path for each receiver. */
export class Inbox {
  readonly #server;

  constructor(receivers: readonly Receiver[]) {
    this.#server = createServer((request, response) => {
      const receiver = receivers.find(({ name }) => request.url === `/${name}`);
      void text(request)
        .then(async (body) => await receiver?.handle(JSON.parse(body) as ChangeEvent))
        .then(
          () => response.writeHead(200).end(),
          () => response.writeHead(422).end('refused'),
        );
    });
  }

  async start(): Promise<void> {
    this.#server.listen(0, '127.0.0.1');
    await once(this.#server, 'listening');
  }

  stop(): void {
    this.#server.closeAllConnections();
    this.#server.close();
  }

  subscription(name: string): object {
    const url = `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/${name}`;
    return {
      handler: 'webhook',
      url,
      allowHosts: ['127.0.0.1'],
      secret: SECRET,
      retry: { attempts: 2, delay: '50ms' },
    };
  }
}

const SECRET = `whsec_${Buffer.from('secret of the receivers of a history').toString('base64')}`;
