/**
 * Changefeed as a library: everything the command line does, by name. Start at `defineConfig` and `openChangefeed`.
 */

// Running it.
export { openChangefeed, type ChangefeedOptions } from './service/changefeed.js';
export type {
  Changefeed,
  HintOptions,
  Histories,
  HistoryCall,
  Invitation,
  Invitations,
  OverviewCall,
  RestorePlanCall,
  TestCall,
  UsageCall,
} from './actions/feed.js';
export type { FindQuery, FoundRecords, Inspector, Snoozed } from './actions/inspector.js';
export type { AuditEntry, AuditQuery } from './ops/audit.js';
export { ROLES, type Role } from '../workers/all.js';
export type { DeadLetter, DeadLetterFilter, DeadLetters, ListOptions } from './delivery/act/dead-letters.js';
export type { DeliveriesQuery } from './delivery/receipts/find-deliveries.js';
export type { Consumers, NextCall, PulledBatch } from './delivery/pull/consumers.js';
export type { DeliveryRow, SubscriptionDetails } from './delivery/receipts/delivery-row.js';
export type { EraseCall, Erased } from './ops/forgetting/erase.js';
export type { Forgotten, ForgottenSubscription, StoredSubscription } from './ops/forgetting/forget.js';
export type { HeldRecords } from './ops/server/page/source.js';
export type { Overview } from './log/overview.js';
export type { Usage } from './log/usage.js';
export type { ListSchema } from './feed/detect/schema-drift/schema.js';
export type { RecordStory } from './feed/list/explain.js';
export type { ListSweep, SweepCall } from '../workers/sweeps.js';
export type { Paused } from './delivery/health.js';
export type { ReplayCall, Replayed } from './delivery/act/replay.js';
export type { SkipCall, Skipped, StoppedReplays } from './delivery/act/skip.js';
export type { SweepProgress } from './feed/list/list.js';
export type { TailOptions, TailedEvent } from './delivery/ask/tail.js';
export type { TodoCounts, TodoGroup, TodoRow, TodoRows, TodosReport, WorkspaceTodos } from './crm/todo-counts.js';
export type { TodosCall } from './feed/todos/report.js';
export type { TodoRowsCall } from './feed/todos/rows.js';
export type { Tried } from './delivery/ask/tried.js';
export type { Copy, CopyRow } from './delivery/verify/copy.js';
export type { Verified } from './delivery/verify/verified.js';
export type { VerifyOptions } from './delivery/verify/verify.js';
export type { TryCall } from './delivery/ask/try.js';

// Configuring it.
export type { Duration } from './kit/duration.js';
export { loadConfig, type LoadedConfig, type LoadOptions } from './config/load.js';
export { parseConfig } from './config/parse.js';
export { defineConfig, type Config, type ConfigInput, type ListConfig, type WorkspaceConfig } from './config/schema.js';
export { env } from './kit/schema/env-variable.js';

// Handling events.
export { bullmq, type BullmqJobOptions, type BullmqOptions } from './delivery/handlers/bullmq/bullmq.js';
export {
  defineHandler,
  type EventOf,
  type EventOfLists,
  type FeedEvent,
  type HandlerOptions,
  type TypedEvent,
} from './delivery/handlers/define.js';
export { DisableSubscriptionError } from './delivery/handlers/errors.js';
export { PermanentError, RetryAfterError, UnauthorizedError } from './kit/thrown.js';
export type {
  DigestContext,
  DigestSummary,
  HandleResult,
  HandlerContext,
  StoredRecords,
  Obstacle,
  Once,
  OnceOutcome,
  Reached,
  Subscription,
  TestOutcome,
  Transform,
} from './delivery/handlers/handler.js';
export {
  defineKind,
  kindOptions,
  type FailedAbout,
  type Kind,
  type KindDefinition,
  type KindSchema,
  type KindWords,
  type OpenedKind,
} from './delivery/handlers/kind.js';
export type { DeliveryFailure } from './delivery/handlers/failed-delivery.js';
export { secret } from './kit/schema/secret.js';
export { email, type EmailOptions } from './delivery/handlers/email/email.js';
export type { People, PersonAddresses } from './delivery/handlers/people.js';
export type { ChangeCondition } from './delivery/handlers/change-condition.js';
export type { Comparison, Conditions } from './delivery/handlers/where.js';
export { message, type MessageOptions } from './delivery/handlers/message/message.js';
export { todoReport, type TodoReportOptions } from './delivery/handlers/message/todo-report.js';
export { ndjson, type NdjsonOptions } from './delivery/handlers/ndjson/ndjson.js';
export { postgres, type ColumnOptions, type PostgresOptions } from './delivery/handlers/postgres/postgres.js';
export { pull, type PullOptions } from './delivery/handlers/pull/pull.js';
export type { ColumnType } from './delivery/handlers/postgres/table.js';
export type { ReceiptOptions, RetryOptions, SettleOptions, SubscriptionOptions } from './delivery/handlers/options.js';
export type { EndpointOptions, RateOptions } from './delivery/handlers/http/endpoint.js';
export { webhook, type WebhookOptions } from './delivery/handlers/webhook/webhook.js';

// Events, lists and records.
// All of that file, because the compiler does not add to an interface that is exported by name.
// eslint-disable-next-line no-restricted-syntax
export * from './crm/record.js';
export { defineList, type ListDefinition, type ListDescription, type RecordOf } from './crm/lists/define.js';
export { LIST_NAMES, type BuiltInList, type ListName, type ObjectName, type ReadyMadeList } from './crm/lists/lists.js';
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
export type { HistoryChange, RecordHistory } from './feed/history/record-history.js';
export type { RestoreStep } from './feed/history/restore-plan.js';
export { ChangefeedError, ERROR_CODES, type ErrorCode } from './kit/errors.js';
export type { ListStatus, Status, SubscriptionStatus, WorkspaceStatus } from './ops/watch/status.js';
export { createLog } from './ops/log.js';
export type { Log } from './kit/log.js';

// The client of the read API alone.
export type { Budget, BudgetLimits, BudgetRequest, RequestKind } from './feed/api/budget.js';
export { createReadApi, type ReadApiOptions } from './feed/api/client.js';
export type { FetchPageAnswer, FetchPageCall, FetchPageFunction } from './feed/api/fetch-page.js';
export { createLocalBudget } from './feed/api/local-budget.js';
export type { Page, ReadApi } from './feed/api/read-api.js';
export type { Token } from './feed/api/token.js';
export { walkList } from './feed/api/visited-cursors.js';

// The sandbox, and the score of events against its journal.
export { PROFILES, type Profile } from '../sandbox/faults/profiles.js';
export type { SandboxOptions } from '../sandbox/options.js';
export { createSandbox, type Sandbox } from '../sandbox/sandbox.js';
export { parseEvents, parseJournal } from '../sandbox/verify/read.js';
export { scoreEvents, type Score, type ScoreOptions } from '../sandbox/verify/score.js';
