/** The subscriptions' queues, opened over one connection. */
import { Queue } from 'bullmq';
import { ChangefeedError, messageOf } from '../errors.js';
import type { Subscription } from '../handlers/handler.js';
import type { Log } from '../runtime/log.js';
import type { Connect, Delivery } from './ports.js';
import { queueOptions, type QueueKeys } from './queue-layout.js';

export interface Queues {
  /** @throws ChangefeedError `CF_USAGE` when there is no such subscription */
  of(subscription: string): Queue<Delivery>;
  readonly all: ReadonlyMap<string, Queue<Delivery>>;
  close(): Promise<void>;
}

export interface QueuesOptions {
  connect: Connect;
  keys: QueueKeys;
  subscriptions: readonly Pick<Subscription, 'name'>[];
  logger: Log;
}

export function openQueues({ connect, keys, subscriptions, logger }: QueuesOptions): Queues {
  const redis = connect();
  const all = new Map(
    subscriptions.map(({ name }) => {
      const queue = new Queue<Delivery>(name, queueOptions(name, { keys, redis }));
      queue.on('error', (error) => logger.warn({ subscription: name, error: messageOf(error) }, 'a queue had trouble'));
      return [name, queue];
    }),
  );
  return {
    all,
    of(subscription) {
      const queue = all.get(subscription);
      if (queue !== undefined) return queue;
      const known = [...all.keys()].map((name) => `"${name}"`).join(', ');
      throw new ChangefeedError('CF_USAGE', {
        message: `There is no subscription "${subscription}". Known: ${known === '' ? 'none' : known}.`,
      });
    },
    async close() {
      await Promise.all([...all.values()].map((queue) => queue.close()));
      redis.disconnect();
    },
  };
}
