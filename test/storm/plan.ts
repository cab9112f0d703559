/** The plan of a storm, made from a seed: its events, what the handler does with each, and the faults with their times. Pure. */
import { createHash } from 'node:crypto';
import { seeded } from '../support/fan-out.js';
import { type EventSpec } from '../support/events.js';

export interface StormSize {
  events: number;
  records: number;
  handlers: number;
  stormMs: number;
}

export const SHORT: StormSize = { events: 400, records: 12, handlers: 2, stormMs: 6_000 };
export const LONG: StormSize = { events: 5_000, records: 40, handlers: 3, stormMs: 40_000 };

/** How long a process may be away before its events go to others. */
export const LOCK_MS = 2_000;
export const STALLED_CHECK_MS = 400;
export const TIMEOUT_MS = 500;
const ATTEMPTS = 4;
const REDIS_RESTARTS = 2;

export interface StormSubscription {
  name: string;
  order: 'record' | 'none';
  whenDead: 'release' | 'hold';
}

export const SUBSCRIPTIONS: readonly StormSubscription[] = [
  { name: 'ordered', order: 'record', whenDead: 'release' },
  { name: 'held', order: 'record', whenDead: 'hold' },
  { name: 'loose', order: 'none', whenDead: 'release' },
];

export type Fault =
  | { kind: 'kill'; role: Role; slot: number }
  | { kind: 'restart'; role: Role; slot: number }
  /** SIGSTOP for longer than the lock, then SIGCONT or SIGKILL. `replaced`: a new process takes its slot meanwhile. */
  | { kind: 'freeze'; role: Role; slot: number; forMs: number; thenKill: boolean; replaced: boolean }
  | { kind: 'pause'; subscription: string; forMs: number }
  | { kind: 'retry'; subscription: string }
  | { kind: 'replay'; subscription: string; share: number }
  /** The Redis server is stopped, by SIGKILL or SIGTERM, and started again with its data. */
  | { kind: 'redis'; kill: boolean };

export type Role = 'handle' | 'dispatch';

/** A process kills or stops itself at its nth point. Points are before and after a step of the gate, and begin and end of a handler. */
export interface SelfFault {
  kind: 'kill' | 'stop';
  atPoint: number;
}

export interface StormPlan {
  seed: number;
  size: StormSize;
  events: EventSpec[];
  faults: { atMs: number; fault: Fault }[];
}

export function planStorm(seed: number, size: StormSize): StormPlan {
  const random = seeded(seed);
  const next = new Map<string, number>();
  const events = Array.from({ length: size.events }, (): EventSpec => {
    // A few records get most of the events.
    const record = `r${Math.floor(random() * random() * size.records)}`;
    const sequence = (next.get(record) ?? 0) + 1;
    next.set(record, sequence);
    return { record, sequence };
  });
  const faults: StormPlan['faults'] = [];
  for (let atMs = 300 + random() * 500; atMs < size.stormMs; atMs += 150 + random() * 650) {
    faults.push({ atMs, fault: faultOf(random, size) });
  }
  for (const { name } of SUBSCRIPTIONS) {
    const fault: Fault = { kind: 'replay', subscription: name, share: random() };
    faults.push({ atMs: size.stormMs * (0.3 + random() * 0.5), fault });
  }
  for (let n = 0; n < REDIS_RESTARTS; n += 1) {
    const fault: Fault = { kind: 'redis', kill: random() < 0.5 };
    faults.push({ atMs: size.stormMs * (0.2 + random() * 0.7), fault });
  }
  return { seed, size, events, faults: faults.toSorted((a, b) => a.atMs - b.atMs) };
}

function faultOf(random: () => number, { handlers }: StormSize): Fault {
  const roll = random();
  const role: Role = random() < 0.7 ? 'handle' : 'dispatch';
  const slot = role === 'handle' ? Math.floor(random() * handlers) : 0;
  const subscription = SUBSCRIPTIONS[Math.floor(random() * SUBSCRIPTIONS.length)]!.name;
  if (roll < 0.14) return { kind: 'kill', role, slot };
  if (roll < 0.22) return { kind: 'restart', role, slot };
  if (roll < 0.42) {
    const forMs = LOCK_MS * (1.1 + random());
    return { kind: 'freeze', role, slot, forMs, thenKill: random() < 0.25, replaced: random() < 0.5 };
  }
  if (roll < 0.6) return { kind: 'pause', subscription, forMs: 200 + random() * 1_500 };
  return { kind: 'retry', subscription };
}

/** Every second process gets one. A dispatcher passes far fewer points than a process with handlers. */
export function selfFaultOf(seed: number, role: Role, generation: number): SelfFault | null {
  const random = numbersOf(seed, role, generation);
  if (random() < 0.5) return null;
  const atPoint = 1 + Math.floor(random() * random() * (role === 'handle' ? 1_200 : 40));
  return { kind: random() < 0.5 ? 'kill' : 'stop', atPoint };
}

export type Action =
  | { kind: 'work'; ms: number }
  | { kind: 'fail' }
  | { kind: 'wait'; retryAfterMs: number }
  | { kind: 'hang' }
  | { kind: 'refuse' };

export function actionOf(
  seed: number,
  event: { subscription: string; record: string; sequence: number },
  n: number,
): Action {
  const random = numbersOf(seed, event.subscription, event.record, event.sequence);
  const roll = random();
  const work: Action = { kind: 'work', ms: Math.floor(random() * random() * 30) };
  if (roll < 0.01) return { kind: 'refuse' };
  if (roll < 0.04) return n <= 1 ? { kind: 'refuse' } : work;
  // As with the most attempts: those that a kill has ended are not limited here.
  if (roll < 0.06) return n < ATTEMPTS ? { kind: 'fail' } : n === ATTEMPTS ? { kind: 'refuse' } : work;
  if (roll < 0.08) return n <= 1 ? { kind: 'hang' } : work;
  if (roll < 0.11) return n <= 1 ? { kind: 'wait', retryAfterMs: Math.floor(random() * 400) } : work;
  if (roll < 0.2) return n <= 1 + random() * 2 ? { kind: 'fail' } : work;
  return work;
}

function numbersOf(...of: (string | number)[]): () => number {
  return seeded(createHash('sha256').update(of.join('/')).digest().readUInt32BE());
}
