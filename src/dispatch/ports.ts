/** What fan-out needs of the log and of memory, as ports: the room that knows Redis implements them. */
import type { ChangeEvent, LoggedEvent } from '../events/types.js';

export interface LogReader {
  /** Events after `after` (exclusive; '0' is before all), oldest first, at most `count`. */
  read(workspace: string, after: string, count: number): Promise<LoggedEvent[]>;
  /** The id of the newest event; '0' when the log is empty. */
  tail(workspace: string): Promise<string>;
  /** Resolves true as soon as there is something after `after`, false after `timeoutMs` or when aborted. */
  waitForMore(workspace: string, after: string, timeoutMs: number, signal: AbortSignal): Promise<boolean>;
}

/** How far each subscription has read each workspace's log. */
export interface PlaceStore {
  get(workspace: string, subscription: string): Promise<string | null>;
  set(workspace: string, subscription: string, logId: string): Promise<void>;
}

export type Turn = { outcome: 'go' } | { outcome: 'wait'; behind: string } | { outcome: 'done' };

/**
 * Keeps one record's events in order within one subscription: a queue (the lane) of event ids per record, of which only
 * the head may run. Every operation may be repeated after a crash and then changes nothing.
 */
export interface RecordGate {
  /** Puts events at the end of their records' lanes, in the order given. Events already there stay where they are. */
  enter(subscription: string, events: readonly { lane: string; eventId: string }[]): Promise<void>;
  /** May this event run now? `done`: it has left its lane before (a repeated job). */
  turn(subscription: string, lane: string, eventId: string): Promise<Turn>;
  /** The event is handled or dead: the lane moves on. Returns the id of the event now at the head, if any. */
  leave(subscription: string, lane: string, eventId: string): Promise<string | null>;
}

/** What travels in a BullMQ job of a subscription's queue. */
export interface Delivery {
  event: ChangeEvent;
  workspace: string;
  logId: string;
}
