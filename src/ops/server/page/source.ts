/** The questions and actions of the status page. `src/service/http.ts` gives it. */
import type { z } from 'zod';
import type { ListName } from '../../../crm/lists/lists.js';
import type { FindRecord } from '../../../events/about.js';
import type { Links } from '../../../events/related.js';
import type { Clock } from '../../../kit/clock.js';
import type { EventLog } from '../../../log/event-log.js';
import type { Status } from '../../watch/status.js';
import type * as answers from './answers.js';
import type { EventViews } from './event-view.js';
import type { History } from './history.js';

export interface PageWorkspace {
  name: string;
  timeZone: string;
  lists: readonly {
    name: ListName;
    object: string;
    enabled: boolean;
    modifiedAt: string[];
    createdAt: string[];
    kept: string[];
    /** Only the keys of its rows are stored. */
    recognisedOnly: boolean;
  }[];
}

/** The records that a list holds until a person accepts them. */
export type HeldRecords = z.output<typeof answers.heldRecords>['held'][number];

/** The part of the feed that the page reads besides what its actions ask. */
export interface FeedOfPage {
  status(): Promise<Status>;
  readonly lists: { record: FindRecord };
}

type Answer<Name extends keyof typeof answers> = answers.Plain<z.output<(typeof answers)[Name]>>;

export interface PageRules {
  state(): Promise<Answer<'rules'>>;
  save(call: { revision: string; rule: object }): Promise<Answer<'ruleChanged'>>;
  remove(call: { revision: string; id: string }): Promise<Answer<'ruleChanged'>>;
  preview(call: {
    rule: object;
    from?: string | undefined;
    search?: string | undefined;
  }): Promise<Answer<'rulePreview'>>;
  send(rule: object): Promise<Answer<'ruleSent'>>;
  values(workspace: string, list: ListName, field: string): Promise<string[]>;
}

export interface PageSource {
  feed: FeedOfPage;
  log: EventLog;
  workspaces(): readonly PageWorkspace[];
  links(workspace: string): Links;
  /** The names of subscriptions that are asked for their events. */
  consumers(): string[];
  redisIsAway(): boolean;
  /** Events that a subscription handled in the last minute; at most some 1,000 are counted. */
  handledLastMinute(subscriptions: readonly string[]): Promise<Map<string, number>>;
}

/** The parts that the routes of the page are made from. */
export interface EndpointDeps {
  source: PageSource;
  views: EventViews;
  history: History;
  clock: Clock;
  version: string;
  queues: 'mounted' | 'not installed';
  /** Read at most once a second, however many pages are open. */
  status: () => Promise<Status>;
}
