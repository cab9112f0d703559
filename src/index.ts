/**
 * Changefeed as a library: everything the command line does, by name. Start at `defineConfig` and `openChangefeed`.
 */

// Running it.
export { openChangefeed, ROLES } from './service/changefeed.js';
export type {
  Changefeed,
  ChangefeedOptions,
  DeadLetter,
  DeadLetterFilter,
  DeadLetters,
  DeliveriesQuery,
  DeliveryRow,
  EraseCall,
  Erased,
  Forgotten,
  ForgottenSubscription,
  HeldRecords,
  HintOptions,
  ListOptions,
  ListSweep,
  Paused,
  ReplayCall,
  Replayed,
  Inspector,
  ListSchema,
  RecordStory,
  Role,
  StoredSubscription,
  SkipCall,
  Skipped,
  SubscriptionDetails,
  SweepCall,
  SweepProgress,
  TailedEvent,
  TailOptions,
  TestCall,
  TodoCounts,
  TodoGroup,
  TodosCall,
  TodosReport,
  Tried,
  TryCall,
  WorkspaceTodos,
} from './service/changefeed.js';

// Configuring it.
export type { Duration } from './kit/duration.js';
export { loadConfig } from './config/load.js';
export type { LoadedConfig, LoadOptions } from './config/load.js';
export { parseConfig } from './config/parse.js';
export { defineConfig } from './config/schema.js';
export { env } from './kit/schema/env-variable.js';
export type { Config, ConfigInput, ListConfig, WorkspaceConfig } from './config/schema.js';

// Handling events.
export { bullmq } from './delivery/handlers/bullmq/bullmq.js';
export type { BullmqJobOptions, BullmqOptions } from './delivery/handlers/bullmq/bullmq.js';
export { defineHandler } from './delivery/handlers/define.js';
export type { EventOf, EventOfLists, FeedEvent, HandlerOptions, TypedEvent } from './delivery/handlers/define.js';
export { DisableSubscriptionError, PermanentError, RetryAfterError } from './delivery/handlers/errors.js';
export type {
  DigestContext,
  DigestSummary,
  HandleResult,
  HandlerContext,
  StoredRecords,
  Once,
  OnceOutcome,
  Subscription,
  TestOutcome,
  Transform,
} from './delivery/handlers/handler.js';
export type { ChangeCondition } from './delivery/handlers/change-condition.js';
export type { Comparison, Conditions } from './delivery/handlers/where.js';
export { message } from './delivery/handlers/message/message.js';
export type { MessageOptions } from './delivery/handlers/message/message.js';
export { todoReport } from './delivery/handlers/message/todo-report.js';
export type { TodoReportOptions } from './delivery/handlers/message/todo-report.js';
export { ndjson } from './delivery/handlers/ndjson/ndjson.js';
export type { NdjsonOptions } from './delivery/handlers/ndjson/ndjson.js';
export type { ColumnOptions, PostgresOptions } from './delivery/handlers/postgres/postgres.js';
export { postgres } from './delivery/handlers/postgres/postgres.js';
export type { ColumnType } from './delivery/handlers/postgres/table.js';
export type { ReceiptOptions, RetryOptions, SettleOptions, SubscriptionOptions } from './delivery/handlers/options.js';
export type { EndpointOptions, RateOptions } from './delivery/handlers/http/endpoint.js';
export { webhook } from './delivery/handlers/webhook/webhook.js';
export type { WebhookOptions } from './delivery/handlers/webhook/webhook.js';

// Events, lists and records.
export type { CrmRecord, UncheckedRecord } from './crm/record.js';
// All of that file, because the compiler does not add to an interface that is exported by name.
// eslint-disable-next-line no-restricted-syntax
export * from './crm/record.js';
export { defineList } from './crm/lists/define.js';
export type { ListDefinition, ListDescription, RecordOf } from './crm/lists/define.js';
export { LIST_NAMES } from './crm/lists/lists.js';
export type { BuiltInList, ListName, ObjectName, ReadyMadeList } from './crm/lists/lists.js';
export type { ActorType, EventPattern, EventType, NoticeKind, NoticeType } from './events/kinds.js';
export type {
  Actor,
  ChangeClass,
  ChangeData,
  ChangeEvent,
  DetectedBy,
  EventData,
  Notice,
  FieldChange,
  LoggedEvent,
  Merged,
  Related,
} from './events/types.js';
export { ChangefeedError, ERROR_CODES } from './kit/errors.js';
export type { ErrorCode } from './kit/errors.js';
export type { ListStatus, Status, SubscriptionStatus, WorkspaceStatus } from './ops/status.js';
export { createLog } from './ops/log.js';
export type { Log } from './kit/log.js';

// The client of the read API alone.
export type { Budget, BudgetLimits, BudgetRequest, RequestKind } from './feed/api/budget.js';
export { createReadApi } from './feed/api/client.js';
export { createLocalBudget } from './feed/api/local-budget.js';
export type { ReadApiOptions } from './feed/api/client.js';
export type { Page, ReadApi } from './feed/api/read-api.js';
export { walkList } from './feed/api/visited-cursors.js';

// The sandbox, and the score of events against its journal.
export { PROFILES } from '../sandbox/faults/profiles.js';
export type { Profile } from '../sandbox/faults/profiles.js';
export type { SandboxOptions } from '../sandbox/options.js';
export { createSandbox } from '../sandbox/sandbox.js';
export type { Sandbox } from '../sandbox/sandbox.js';
export { parseEvents, parseJournal } from '../sandbox/verify/read.js';
export { scoreEvents } from '../sandbox/verify/score.js';
export type { Score, ScoreOptions } from '../sandbox/verify/score.js';
