/** The role `handle`: runs the handlers, one worker per subscription. */
import type { Dispatcher } from '../src/delivery/dispatcher.js';
import type { Subscription } from '../src/delivery/handlers/handler.js';
import { createHandlerPool } from '../src/delivery/run/handler-pool.js';
import type { Part } from '../src/kit/lifecycle.js';
import { createDeliveryStores } from '../src/delivery/stores.js';
import type { AppContext } from './context.js';
import { withMeasure } from './measured.js';
import { countFor } from './reports.js';
import type { Workspaces } from './workspaces.js';

export function handleRole(context: AppContext, workspaces: Workspaces, { verify }: Pick<Dispatcher, 'verify'>) {
  const { config, subscriptions, events, log: logger } = context;
  const pool = createHandlerPool({
    ...context,
    logger,
    subscriptions: subscriptions.map((one) => withMeasure(one, context)),
    ...createDeliveryStores(context),
    log: events,
    deadLetters: config.deadLetters.retention,
    logAgeMs: config.log.retention.ageMs,
    countFor: (what, period) => countFor(what, { context, workspaces, ...period }),
    verifyCopy: (subscription, call) => verify(subscription, undefined, call),
    pageUrl: config.http.publicUrl,
    surroundingsOf: workspaces.surroundingsOf,
  });
  return {
    name: 'handlers',
    ...pool,
    add: (subscription: Subscription): Promise<void> => pool.add(withMeasure(subscription, context)),
  } satisfies Part & { add: unknown };
}
