/**
 * Changefeed as a library: everything the command line does, by name. Start at `defineConfig` and `openChangefeed`.
 */

// Running it.
export { openChangefeed, ROLES } from './app.js';
export type {
  Changefeed,
  ChangefeedOptions,
  DeadLetter,
  DeadLetterFilter,
  DeadLetters,
  ListOptions,
  ListSweep,
  ReplayCall,
  Replayed,
  Role,
  SweepCall,
  SweepProgress,
  TailedEvent,
  TailOptions,
} from './app.js';

// Configuring it.
export { defineConfig } from './config/define.js';
export type { ConfigInput } from './config/input.js';
export { loadConfig } from './config/load.js';
export type { LoadedConfig, LoadOptions } from './config/load.js';
export { parseConfig } from './config/parse.js';
export type { Config, ListConfig, WorkspaceConfig } from './config/schema.js';

// Handling events.
export { defineHandler } from './handlers/define.js';
export type { EventOf, HandlerOptions, TypedEvent } from './handlers/define.js';
export { PermanentError, RetryAfterError } from './handlers/errors.js';
export type { HandlerContext, Once, OnceOutcome, Subscription, Transform } from './handlers/handler.js';
export type { Comparison, Conditions } from './handlers/where.js';
export { ndjson } from './handlers/ndjson/ndjson.js';
export type { NdjsonOptions } from './handlers/ndjson/options.js';
export type { RetryOptions, SubscriptionOptions } from './handlers/options.js';
export type { WebhookOptions } from './handlers/webhook/options.js';
export { webhook } from './handlers/webhook/webhook.js';

// What it speaks of.
export { LIST_NAMES } from './events/lists.js';
export type { ListName, ObjectName } from './events/lists.js';
export type {
  ChangeClass,
  ChangeData,
  ChangeEvent,
  CrmRecord,
  DetectedBy,
  EventType,
  FieldChange,
  LoggedEvent,
} from './events/types.js';
export { ChangefeedError, ERROR_CODES } from './errors.js';
export type { ErrorCode } from './errors.js';
export type { ListStatus, Status, SubscriptionStatus, WorkspaceStatus } from './observability/status.js';
export { createLog } from './observability/log.js';
export type { Log } from './runtime/log.js';

// The read API by itself, for who wants the lists and not the changes.
export type { Budget, BudgetLimits } from './api/budget.js';
export { createReadApi } from './api/client.js';
export type { ReadApiOptions } from './api/client.js';
export type { Page, RawRecord, ReadApi } from './api/read-api.js';
export { walkList } from './api/trail.js';
