/** The role `handle`: runs the handlers, one worker per subscription. */
import { createHandlerPool } from '../src/dispatch/handler-pool.js';
import type { Subscription } from '../src/handlers/handler.js';
import type { Part } from '../src/runtime/lifecycle.js';
import { createRecordGate } from '../src/state/gate.js';
import { createHealthStore } from '../src/state/health.js';
import { createOnceStore } from '../src/state/once.js';
import type { AppContext } from '../src/app/context.js';
import { createMeasured } from '../src/app/measured.js';
import { rulesFor, type Workspaces } from '../src/app/workspaces.js';

export interface HandleRole extends Part {
  /** From now on these are the subscriptions. Resolves when the handlers of removed and replaced ones have finished. */
  apply(subscriptions: readonly Subscription[]): Promise<void>;
}

export function handleRole(context: AppContext, workspaces: Workspaces): HandleRole {
  const { config, subscriptions, keys, redis, events, log: logger } = context;
  const measured = createMeasured(context);
  const pool = createHandlerPool({
    ...context,
    logger,
    subscriptions: measured(subscriptions),
    gate: createRecordGate(redis, keys),
    log: events,
    once: createOnceStore(redis, keys),
    health: createHealthStore(redis, keys),
    deadLetters: config.deadLetters.retention,
    comparisonOf: (event) => rulesFor(workspaces, event),
  });
  return { name: 'handlers', ...pool, apply: (next) => pool.apply(measured(next)) };
}
