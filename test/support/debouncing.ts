/** Changes of one record for a subscription with debounce, all of them queued before the first is handled. */
import { expect } from 'vitest';
import { mergedEventId } from '../../src/events/envelope.js';
import type { ChangeEvent } from '../../src/events/types.js';
import type { Handle, Settling, Subscription } from '../../src/delivery/handlers/handler.js';
import { eventually } from './eventually.js';
import { aSubscription, fanOutDeps } from './fan-out.js';
import { WORKSPACE, appendEvents, changesOf } from './events.js';
import type { TestRedis } from './redis.js';
import { runFanOut, type FanOutExtras, type RunningFanOut } from './running-fan-out.js';

export const SOON: Settling = { stillMs: 1, atMostMs: 1 };
export const NOT_TODAY: Settling = { stillMs: 3_600_000, atMostMs: 36_000_000 };

export const changes = (...sequences: number[]): ChangeEvent[] => changesOf('r1', ...sequences);
export const idOf = (events: readonly ChangeEvent[]): string => mergedEventId(events.map(({ id }) => id));

export function debouncing(handle: Handle, more: Partial<Subscription> = {}): Subscription {
  return aSubscription('s', handle, { settle: SOON, ...more });
}

export type Debounce = RunningFanOut & { test: TestRedis };

export async function start(test: TestRedis, subscription: Subscription, extras: FanOutExtras = {}): Promise<Debounce> {
  const running = await runFanOut(test, [subscription], extras);
  await running.queues.of('s').pause();
  return { ...running, test };
}

/** Appends the events while the queue is paused, so that all of them are entered before the first is handled. */
export async function queue({ queues, test }: Debounce, events: readonly ChangeEvent[]): Promise<string[]> {
  const { gate } = fanOutDeps(test);
  const counted = async (): Promise<number> => (await gate.pending('s', WORKSPACE)).events;
  await queues.of('s').pause();
  const before = await counted();
  const ids = await appendEvents(test, events);
  await eventually(async () => expect(await counted()).toBe(before + events.length));
  return ids;
}

export async function put(running: Debounce, events: readonly ChangeEvent[]): Promise<void> {
  await queue(running, events);
  await running.queues.of('s').resume();
}

/** The keys of the gate that exist, without those of the marks of retries. */
export async function stateOf({ redis, keys }: TestRedis): Promise<string[]> {
  const patterns = [keys.group('s', '*'), keys.pending('s', '*'), keys.entered('s', '*'), keys.payloads('s')];
  const found = (await Promise.all(patterns.map((pattern) => redis.keys(pattern)))).flat();
  return found.filter((key) => !key.includes(':retry:'));
}
