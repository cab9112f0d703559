/** The role `handle`: runs the handlers, one worker per subscription. */
import { createHandlerPool } from '../src/dispatch/handler-pool.js';
import type { Part } from '../src/runtime/lifecycle.js';
import { createRecordGate } from '../src/state/gate.js';
import { createHealthStore } from '../src/state/health.js';
import { createProcessRegistry } from '../src/state/process-registry.js';
import { createOnceStore } from '../src/state/once.js';
import type { AppContext } from '../src/app/context.js';
import { withMeasure } from '../src/app/measured.js';
import { rulesFor, type Workspaces } from '../src/app/workspaces.js';

export function handleRole(context: AppContext, workspaces: Workspaces): Part {
  const { config, subscriptions, keys, redis, events, log: logger } = context;
  const pool = createHandlerPool({
    ...context,
    logger,
    subscriptions: withMeasure(subscriptions, context),
    gate: createRecordGate(redis, keys),
    log: events,
    processes: createProcessRegistry(redis, keys),
    once: createOnceStore(redis, keys),
    health: createHealthStore(redis, keys),
    deadLetters: config.deadLetters.retention,
    comparisonOf: (event) => rulesFor(workspaces, event),
  });
  return { name: 'handlers', ...pool };
}
