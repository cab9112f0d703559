/** Removes everything stored for a subscription that is no longer configured: its queue with its dead letters, and its offsets. */
import { ChangefeedError } from '../errors.js';
import type { TraceStore } from './ports.js';
import { openQueues, type QueuesOptions } from './queues.js';

export interface StoredSubscription {
  subscription: string;
  /** Events that wait for a handler or a retry. */
  waiting: number;
  dead: number;
  /** Processes that handle it now. */
  workers: number;
}

export interface ForgottenSubscription extends StoredSubscription {
  /** Keys and offsets that were removed; 0 with a dry run, and when nothing was stored. */
  keys: number;
}

export interface ForgetSubscriptionCall {
  subscription: string;
  /** The subscriptions of the configuration. */
  configured: readonly string[];
  /** Only says what is stored. @defaultValue false */
  dryRun?: boolean | undefined;
}

type Deps = Pick<QueuesOptions, 'connect' | 'keys' | 'logger'> & { traces: TraceStore };

/** Every subscription for which anything is stored, by name. */
export async function storedSubscriptions({ traces, ...options }: Deps): Promise<StoredSubscription[]> {
  const names = (await traces.subscriptions()).sort();
  const queues = openQueues({ ...options, subscriptions: names.map((name) => ({ name })) });
  try {
    return await Promise.all(
      names.map(async (subscription) => {
        const queue = queues.of(subscription);
        const counts = await queue.getJobCounts('waiting', 'active', 'delayed', 'failed', 'prioritized');
        const { waiting = 0, active = 0, delayed = 0, prioritized = 0, failed = 0 } = counts;
        const workers = await queue.getWorkersCount();
        return { subscription, waiting: waiting + active + delayed + prioritized, dead: failed, workers };
      }),
    );
  } finally {
    await queues.close();
  }
}

/**
 * A process whose configuration still has the subscription would write its state again, so nothing is removed while one handles it.
 * @throws ChangefeedError CF_USAGE
 */
export async function forgetSubscription(
  { subscription, configured, dryRun = false }: ForgetSubscriptionCall,
  deps: Deps,
): Promise<ForgottenSubscription> {
  if (configured.includes(subscription))
    throw refused(`the configuration has the subscription "${subscription}". Remove it there first.`);
  const stored = await storedSubscriptions(deps);
  const found = stored.find((one) => one.subscription === subscription);
  if (found === undefined) {
    const names = stored.map((one) => `"${one.subscription}"`).join(', ');
    throw refused(`nothing is stored of a subscription "${subscription}". Stored: ${names === '' ? 'none' : names}.`);
  }
  if (found.workers > 0)
    throw refused(
      `${found.workers} ${found.workers === 1 ? 'process handles' : 'processes handle'} "${subscription}" now. Stop it, or remove the subscription from its configuration.`,
    );
  return { ...found, keys: dryRun ? 0 : await deps.traces.removeSubscription(subscription) };
}

function refused(why: string): ChangefeedError {
  return new ChangefeedError('CF_USAGE', { message: `subscriptions forget: ${why}` });
}
