/** What a person does to the fan-out from outside: look after dead letters, send a stretch again. Queues are opened when asked for. */
import type { Subscription } from '../handlers/handler.js';
import type { Clock } from '../runtime/clock.js';
import { DeadLetters } from './dead-letters.js';
import type { FeedStore, LogReader, PlaceStore, RecordGate } from './ports.js';
import { openQueues, type Queues, type QueuesOptions } from './queues.js';
import { replay, type ReplayCall, type Replayed } from './replay.js';

export interface OperationsOptions extends QueuesOptions {
  gate: RecordGate;
  log: LogReader;
  places: PlaceStore;
  feeds: FeedStore;
  subscriptions: readonly Subscription[];
  workspaces: readonly string[];
  clock?: Clock;
}

export interface Operations {
  readonly deadLetters: DeadLetters;
  /** @throws ChangefeedError `CF_USAGE` when there is no such subscription or place */
  replay(call: ReplayCall): Promise<Replayed>;
  /** From here on these are the subscriptions. */
  apply(subscriptions: readonly Subscription[]): void;
  close(): Promise<void>;
}

export function createOperations(options: OperationsOptions): Operations {
  let opened: Queues | undefined;
  let current = options.subscriptions;
  const queues = (): Queues => (opened ??= openQueues({ ...options, subscriptions: current }));
  return {
    get deadLetters() {
      return new DeadLetters(queues(), options.gate);
    },
    async replay(call) {
      const queue = queues().of(call.subscription);
      const subscription = current.find(({ name }) => name === call.subscription);
      // `of` has complained about an unknown one.
      if (subscription === undefined) return { events: 0, reached: {}, interrupted: false };
      return await replay(call, { ...options, queue, subscription });
    },
    apply(subscriptions) {
      current = subscriptions;
      opened?.apply(subscriptions);
    },
    async close() {
      await opened?.close();
    },
  };
}
