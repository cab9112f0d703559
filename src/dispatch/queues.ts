/** The subscriptions' queues, over one connection, each opened when it is first asked for. */
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
  /** From here on these are the subscriptions. */
  apply(subscriptions: readonly Pick<Subscription, 'name'>[]): void;
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
  const opened = new Map<string, Queue<Delivery>>();
  let names = subscriptions.map(({ name }) => name);
  const open = (name: string): Queue<Delivery> => {
    const known = opened.get(name);
    if (known !== undefined) return known;
    const queue = new Queue<Delivery>(name, queueOptions(name, { keys, redis }));
    queue.on('error', (error) => logger.warn({ subscription: name, error: messageOf(error) }, 'a queue had trouble'));
    opened.set(name, queue);
    return queue;
  };
  return {
    get all() {
      return new Map(names.map((name) => [name, open(name)]));
    },
    of(subscription) {
      if (names.includes(subscription)) return open(subscription);
      const known = names.map((name) => `"${name}"`).join(', ');
      throw new ChangefeedError('CF_USAGE', {
        message: `There is no subscription "${subscription}". Known: ${known === '' ? 'none' : known}.`,
      });
    },
    apply(now) {
      names = now.map(({ name }) => name);
    },
    async close() {
      await Promise.all([...opened.values()].map((queue) => queue.close()));
      redis.disconnect();
    },
  };
}
