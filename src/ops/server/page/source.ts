/** What the status page asks of a feed, and what it can have done. `src/service/http.ts` implements it. */
import type { DeadLetters } from '../../../delivery/dead-letters.js';
import type { DeliveryRow, SubscriptionDetails } from '../../../delivery/receipts/delivery-row.js';
import type { DeliveriesQuery } from '../../../delivery/receipts/find-deliveries.js';
import type { StoredSubscription } from '../../forget.js';
import type { ReplayCall, Replayed } from '../../../delivery/replay.js';
import type { SkipCall, Skipped } from '../../../delivery/skip.js';
import type { TailedEvent, TailOptions } from '../../../delivery/tail.js';
import type { TryCall } from '../../../delivery/try.js';
import type { Tried } from '../../../delivery/tried.js';
import type { Held } from '../../../feed/detect/held.js';
import type { ListSchema } from '../../../feed/detect/schema-drift/schema.js';
import type { ListName } from '../../../crm/lists/lists.js';
import type { FindRecord } from '../../../events/about.js';
import type { Links } from '../../../events/related.js';
import type { Status } from '../../status.js';
import type { EventLog } from '../../../log/event-log.js';
import type { TodosReport } from '../../../crm/todo-counts.js';
import type { TodosCall } from '../../../feed/todos/report.js';
import type { Tested } from './answers.js';

export interface PageWorkspace {
  name: string;
  timeZone: string;
  lists: readonly { name: ListName; object: string; enabled: boolean }[];
}

interface HeldOfPage extends Held {
  workspace: string;
  list: ListName;
  examples: readonly { id: string; title: string | null }[];
}

export interface FeedOfPage {
  status(): Promise<Status>;
  tail(options: TailOptions): AsyncGenerator<TailedEvent, void, undefined>;
  readonly deadLetters: DeadLetters;
  deliveries(query: DeliveriesQuery): Promise<DeliveryRow[]>;
  describeSubscription(subscription: string): Promise<SubscriptionDetails>;
  pause(subscription: string, reason: string): Promise<boolean>;
  replay(call: ReplayCall): Promise<Replayed>;
  stopReplay(subscription: string, id?: string): Promise<number>;
  test(subscription: string, call: { type?: string | undefined; run: boolean }): Promise<Tested>;
  skip(subscription: string, call: SkipCall): Promise<Skipped>;
  storedSubscriptions(): Promise<StoredSubscription[]>;
  forgetSubscription(subscription: string, options: { dryRun: boolean }): Promise<StoredSubscription>;
  renameSubscription(from: string, to: string): Promise<StoredSubscription>;
  resume(subscription: string): Promise<object | null>;
  try(subscription: string, call: TryCall): Promise<Tried>;
  todos(call: TodosCall): Promise<TodosReport>;
  readonly lists: {
    schema(list: ListName, workspace: string): Promise<ListSchema>;
    record: FindRecord;
    allHeld(): Promise<readonly HeldOfPage[]>;
    accept(list: ListName, workspace: string): Promise<readonly Held[]>;
    discard(list: ListName, workspace: string): Promise<readonly Held[]>;
  };
}

export interface PageSource {
  feed: FeedOfPage;
  workspaces(): readonly PageWorkspace[];
  links(workspace: string): Links;
  redisIsAway(): boolean;
  log: EventLog;
  /** Events that a subscription handled in the last minute; at most some 1,000 are counted. */
  handledLastMinute(subscriptions: readonly string[]): Promise<Map<string, number>>;
}
