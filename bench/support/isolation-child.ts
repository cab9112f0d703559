/**
 * One process of the isolation bench: a dispatcher of several subscriptions, or the handlers of one. A handler says how
 * long each event took from the log to it, fifty at a time: the phase, then milliseconds. Asked by a signal, a process says
 * how many commands it has sent to Redis so far.
 */
import { Redis } from 'ioredis';
import { createDispatcher } from '../../src/delivery/dispatcher.js';
import { createHandlerPool } from '../../src/delivery/run/handler-pool.js';
import { PermanentError } from '../../src/delivery/handlers/errors.js';
import type { Handle } from '../../src/delivery/handlers/handler.js';
import { systemClock } from '../../src/kit/clock.js';
import { Keys } from '../../src/redis/keys.js';
import { aSubscription, fanOutDeps } from '../../test/support/fan-out.js';

export interface IsolationTask {
  url: string;
  prefix: string;
  role: 'dispatch' | 'handle';
  /** `tenth-slow`, `tenth-failing` … do as they are called. */
  subscriptions: string[];
}

const { url, prefix, role, subscriptions } = JSON.parse(process.env['ISOLATION_TASK'] ?? '{}') as IsolationTask;
const connect = (): Redis => new Redis(url, { maxRetriesPerRequest: null });
const SAID_TOGETHER = 50;

let commands = 0;
const plain = Object.getOwnPropertyDescriptor(Redis.prototype, 'sendCommand')?.value as Redis['sendCommand'];
Redis.prototype.sendCommand = function (this: Redis, ...args: Parameters<Redis['sendCommand']>) {
  commands += 1;
  return plain.apply(this, args);
};
let asked = 0;
process.on('SIGUSR2', () => process.stdout.write(`asked ${(asked += 1)}: ${commands}\n`));

let phase = '';
let waits: number[] = [];

function say(): void {
  if (waits.length > 0) process.stdout.write(`${phase} ${waits.join(' ')}\n`);
  waits = [];
}

const measure: Handle = ({ subject, data }) => {
  const [of = ''] = subject.split('-');
  if (of !== phase) say();
  phase = of;
  waits.push(systemClock.now() - Date.parse(data.observedAt));
  if (waits.length >= SAID_TOGETHER) say();
};

function handleOf(name: string): Handle {
  if (name.includes('slow')) return (_event, { signal }) => systemClock.sleep(1_000, signal);
  if (name.includes('failing')) return () => Promise.reject(new Error('always'));
  if (name.includes('dying')) return () => Promise.reject(new PermanentError('always'));
  return name.includes('tenth') ? () => undefined : measure;
}

const deps = {
  ...fanOutDeps({ redis: connect(), keys: new Keys(prefix), connect }),
  subscriptions: subscriptions.map((name) => aSubscription(name, handleOf(name), { start: 'now' })),
};
const part = role === 'dispatch' ? createDispatcher(deps) : createHandlerPool({ ...deps, stopGraceMs: 100 });
await part.start();
process.once('SIGTERM', () => {
  say();
  part.stop().then(
    () => process.exit(0),
    () => process.exit(1),
  );
});
process.stdout.write('running\n');
