/** Commands on the fan-out, for the CLI and the public API: dead letters, replay, enable and disable. Queues are opened on first use. */
import type { Subscription } from '../handlers/handler.js';
import { systemClock, type Clock } from '../runtime/clock.js';
import { disable, enable, enforceDisabled, noteMissing } from './circuit-breaker.js';
import { DeadLetters } from './dead-letters.js';
import type { Disabled, BackfillStore, HealthStore, LogReader, OffsetStore, RecordGate } from './ports.js';
import { openQueues, type Queues, type QueuesOptions } from './queues.js';
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
  /** @throws ChangefeedError `CF_USAGE` when there is no such subscription or offset */
  replay(call: ReplayCall): Promise<Replayed>;
  /** Replaces the set of subscriptions. */
  apply(subscriptions: readonly Subscription[]): void;
  /** @throws ChangefeedError `CF_USAGE` when there is no such subscription */
  enable(subscription: string): Promise<Disabled | null>;
  /** @throws ChangefeedError `CF_USAGE` when there is no such subscription */
  disable(subscription: string, reason: string): Promise<boolean>;
  /** Pauses the queues of disabled subscriptions where they are not paused. Returns the names of all disabled ones. */
  enforceDisabled(): Promise<string[]>;
  /** Logs, once per subscription, that events were dropped from the log which it has not read. */
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
      // Not reached: `of` throws for an unknown subscription.
      if (subscription === undefined) return { events: 0, reached: {}, interrupted: false };
      return await replay(call, { ...options, queue, subscription });
    },
    apply(subscriptions) {
      current = subscriptions;
      opened?.apply(subscriptions);
    },
    enable: async (subscription) => await enable(subscription, { queues: queues(), health, clock }),
    disable: async (subscription, reason) => await disable(subscription, reason, { queues: queues(), health, clock }),
    enforceDisabled: async () => await enforceDisabled({ queues: queues(), health }),
    noteMissing: (subscriptions) => noteMissing(subscriptions, options),
    async close() {
      await opened?.close();
    },
  };
}
