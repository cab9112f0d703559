/** A storm from a seed: which events, what becomes of each when it is handled, and which mishaps when. Pure. */
import { createHash } from 'node:crypto';
import { seeded, type EventSpec } from '../support/fan-out.js';

export interface StormSize {
  events: number;
  records: number;
  /** Processes that run handlers. */
  handlers: number;
  /** How long mishaps go on. */
  stormMs: number;
}

export const SHORT: StormSize = { events: 400, records: 12, handlers: 2, stormMs: 6_000 };
export const LONG: StormSize = { events: 5_000, records: 40, handlers: 3, stormMs: 40_000 };

/** How long a process may be silent before its events go to others. */
export const LOCK_MS = 2_000;
export const STALLED_CHECK_MS = 400;
export const TIMEOUT_MS = 500;
export const ATTEMPTS = 4;

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

export type Mishap =
  /** SIGKILL, and a new process at once. */
  | { kind: 'kill'; role: Role; slot: number }
  /** SIGTERM, and a new process at once. */
  | { kind: 'restart'; role: Role; slot: number }
  /** SIGSTOP for longer than the lock; then SIGCONT, or SIGKILL. `beside`: a new process takes its place meanwhile. */
  | { kind: 'freeze'; role: Role; slot: number; forMs: number; thenKill: boolean; beside: boolean }
  | { kind: 'pause'; subscription: string; forMs: number }
  | { kind: 'retry'; subscription: string }
  | { kind: 'replay'; subscription: string; share: number };

export type Role = 'handle' | 'dispatch';

/** What a process does to itself when it passes its nth point: before or after a step of the gate, begin or end of a handler. */
export interface SelfHarm {
  does: 'kill' | 'stop';
  atPoint: number;
}

export interface StormPlan {
  seed: number;
  size: StormSize;
  events: EventSpec[];
  mishaps: { atMs: number; mishap: Mishap }[];
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
  const mishaps: StormPlan['mishaps'] = [];
  for (let atMs = 300 + random() * 500; atMs < size.stormMs; atMs += 150 + random() * 650) {
    mishaps.push({ atMs, mishap: mishapOf(random, size) });
  }
  for (const { name } of SUBSCRIPTIONS) {
    const mishap: Mishap = { kind: 'replay', subscription: name, share: random() };
    mishaps.push({ atMs: size.stormMs * (0.3 + random() * 0.5), mishap });
  }
  return { seed, size, events, mishaps: mishaps.toSorted((a, b) => a.atMs - b.atMs) };
}

function mishapOf(random: () => number, { handlers }: StormSize): Mishap {
  const roll = random();
  const role: Role = random() < 0.7 ? 'handle' : 'dispatch';
  const slot = role === 'handle' ? Math.floor(random() * handlers) : 0;
  const subscription = SUBSCRIPTIONS[Math.floor(random() * SUBSCRIPTIONS.length)]!.name;
  if (roll < 0.14) return { kind: 'kill', role, slot };
  if (roll < 0.22) return { kind: 'restart', role, slot };
  if (roll < 0.42) {
    const forMs = LOCK_MS * (1.1 + random());
    return { kind: 'freeze', role, slot, forMs, thenKill: random() < 0.25, beside: random() < 0.5 };
  }
  if (roll < 0.6) return { kind: 'pause', subscription, forMs: 200 + random() * 1_500 };
  return { kind: 'retry', subscription };
}

/** Every second process does itself harm; the dispatcher passes far fewer points than a handler. */
export function selfHarmOf(seed: number, role: Role, generation: number): SelfHarm | null {
  const random = numbersOf(seed, role, generation);
  if (random() < 0.5) return null;
  const atPoint = 1 + Math.floor(random() * random() * (role === 'handle' ? 1_200 : 40));
  return { does: random() < 0.5 ? 'kill' : 'stop', atPoint };
}

export type Deed =
  | { does: 'work'; ms: number }
  | { does: 'fail' }
  | { does: 'wait'; retryAfterMs: number }
  | { does: 'hang' }
  | { does: 'refuse' };

/** What the nth run of an event does; `refuse` is a permanent error. One in a hundred is refused for ever. */
export function deedOf(
  seed: number,
  about: { subscription: string; record: string; sequence: number },
  n: number,
): Deed {
  const random = numbersOf(seed, about.subscription, about.record, about.sequence);
  const kind = random();
  const work: Deed = { does: 'work', ms: Math.floor(random() * random() * 30) };
  if (kind < 0.01) return { does: 'refuse' };
  if (kind < 0.04) return n <= 1 ? { does: 'refuse' } : work;
  if (kind < 0.06) return n <= ATTEMPTS ? { does: 'fail' } : work;
  if (kind < 0.08) return n <= 1 ? { does: 'hang' } : work;
  if (kind < 0.11) return n <= 1 ? { does: 'wait', retryAfterMs: Math.floor(random() * 400) } : work;
  if (kind < 0.2) return n <= 1 + random() * 2 ? { does: 'fail' } : work;
  return work;
}

function numbersOf(...of: (string | number)[]): () => number {
  return seeded(createHash('sha256').update(of.join('/')).digest().readUInt32BE());
}
