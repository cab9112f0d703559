/** What a person does to the fan-out from outside: look after dead letters, send a stretch again. Queues are opened when asked for. */
import type { Subscription } from '../handlers/handler.js';
import { systemClock, type Clock } from '../runtime/clock.js';
import { DeadLetters } from './dead-letters.js';
import type { Disabled, BackfillStore, HealthStore, LogReader, OffsetStore, RecordGate } from './ports.js';
import { openQueues, type Queues, type QueuesOptions } from './queues.js';
import { disable, enable, enforce, noteMissing } from './switch.js';
import { replay, type ReplayCall, type Replayed } from './replay.js';

export interface OperationsOptions extends QueuesOptions {
  gate: RecordGate;
  health: HealthStore;
  log: LogReader;
  offsets: OffsetStore;
  backfills: BackfillStore;
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
  /** @throws ChangefeedError `CF_USAGE` when there is no such subscription */
  enable(subscription: string): Promise<Disabled | null>;
  /** @throws ChangefeedError `CF_USAGE` when there is no such subscription */
  disable(subscription: string, reason: string): Promise<boolean>;
  /** See to it that what is disabled gets nothing delivered. Answers the names. */
  enforceDisabled(): Promise<string[]>;
  /** Events were dropped from the log that these have not read: said once. */
  noteMissing(subscriptions: readonly string[]): Promise<void>;
  close(): Promise<void>;
}

export function createOperations(options: OperationsOptions): Operations {
  let opened: Queues | undefined;
  let current = options.subscriptions;
  const queues = (): Queues => (opened ??= openQueues({ ...options, subscriptions: current }));
  const { gate, health, clock = systemClock } = options;
  return {
    get deadLetters() {
      return new DeadLetters(queues(), gate);
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
    enable: async (subscription) => await enable(subscription, { queues: queues(), health, clock }),
    disable: async (subscription, reason) => await disable(subscription, reason, { queues: queues(), health, clock }),
    enforceDisabled: async () => await enforce({ queues: queues(), health }),
    noteMissing: (subscriptions) => noteMissing(subscriptions, options),
    async close() {
      await opened?.close();
    },
  };
}
