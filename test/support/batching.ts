/** Subscriptions with a batch handler, and events with short names. */
import type { ChangeEvent } from '../../src/events/types.js';
import type { Batching, HandleBatch, Subscription } from '../../src/handlers/handler.js';
import { aSubscription, changeEvent } from './fan-out.js';

export const NEVER_ALONE = 3_600_000;

export const of = (record: string, ...sequences: number[]): ChangeEvent[] =>
  sequences.map((sequence) => changeEvent({ record, sequence }));
export const nameOf = ({ subject, data }: ChangeEvent): string => `${subject}${data.sequence}`;

export function batching(
  handle: HandleBatch,
  { size = 100, lingerMs = 50 }: Partial<Batching> = {},
  more: Partial<Subscription> = {},
): Subscription {
  return aSubscription('s', () => undefined, { concurrency: 1, ...more, batch: { size, lingerMs, handle } });
}
