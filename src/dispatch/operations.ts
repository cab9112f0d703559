/** What a person does to the fan-out from outside: look after dead letters, send a stretch again. Queues are opened when asked for. */
import type { Subscription } from '../handlers/handler.js';
import type { Clock } from '../runtime/clock.js';
import { DeadLetters } from './dead-letters.js';
import type { LogReader, PlaceStore, RecordGate } from './ports.js';
import { openQueues, type Queues, type QueuesOptions } from './queues.js';
import { replay, type ReplayCall, type Replayed } from './replay.js';

export interface OperationsOptions extends QueuesOptions {
  gate: RecordGate;
  log: LogReader;
  places: PlaceStore;
  subscriptions: readonly Subscription[];
  workspaces: readonly string[];
  clock?: Clock;
}

export interface Operations {
  readonly deadLetters: DeadLetters;
  /** @throws ChangefeedError `CF_USAGE` when there is no such subscription or place */
  replay(call: ReplayCall): Promise<Replayed>;
  close(): Promise<void>;
}

export function createOperations(options: OperationsOptions): Operations {
  let opened: Queues | undefined;
  const queues = (): Queues => (opened ??= openQueues(options));
  return {
    get deadLetters() {
      return new DeadLetters(queues(), options.gate);
    },
    async replay(call) {
      const queue = queues().of(call.subscription);
      const subscription = options.subscriptions.find(({ name }) => name === call.subscription);
      // `of` has complained about an unknown one.
      if (subscription === undefined) return { events: 0, reached: {}, interrupted: false };
      return await replay(call, { ...options, queue, subscription });
    },
    async close() {
      await opened?.close();
    },
  };
}
