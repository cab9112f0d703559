/** The role `handle`: runs the handlers, one worker per subscription. */
import { createHandlerPool } from '../src/dispatch/handler-pool.js';
import type { Part } from '../src/runtime/lifecycle.js';
import { createRecordGate } from '../src/state/gate.js';
import { createHealthStore } from '../src/state/health.js';
import { createProcessRegistry } from '../src/state/process-registry.js';
import { createOffsetStore } from '../src/state/offsets.js';
import { createReceiptStore } from '../src/state/receipts.js';
import { createOnceStore } from '../src/state/once.js';
import type { AppContext } from '../src/app/context.js';
import { withMeasure } from '../src/app/measured.js';
import { countTodos } from '../src/app/todos.js';
import { rulesFor, surroundingsOf, type Workspaces } from '../src/app/workspaces.js';

export function handleRole(context: AppContext, workspaces: Workspaces): Part {
  const { config, subscriptions, keys, redis, events, log: logger, clock } = context;
  const pool = createHandlerPool({
    ...context,
    logger,
    subscriptions: withMeasure(subscriptions, context),
    gate: createRecordGate(redis, keys),
    log: events,
    offsets: createOffsetStore(redis, keys),
    processes: createProcessRegistry(redis, keys),
    once: createOnceStore(redis, keys),
    health: createHealthStore(redis, keys),
    receipts: createReceiptStore(redis, keys),
    deadLetters: config.deadLetters.retention,
    logAgeMs: config.log.retention.ageMs,
    comparisonOf: (event) => rulesFor(workspaces, event),
    countTodos: (workspace, since) => countTodos(workspaces, { workspace, since, clock }),
    pageUrl: config.http.publicUrl,
    surroundingsOf: (name) => surroundingsOf(workspaces, name),
  });
  return { name: 'handlers', ...pool };
}
