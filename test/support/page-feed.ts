/** A feed with a status page, whose log and dead letters a test fills itself. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import type { Changefeed } from '../../src/actions/feed.js';
import type { ConfigInput } from '../../src/config/schema.js';
import { defineHandler } from '../../src/delivery/handlers/define.js';
import { PermanentError } from '../../src/delivery/handlers/errors.js';
import type { Subscription } from '../../src/delivery/handlers/handler.js';
import type { ChangeEvent } from '../../src/events/types.js';
import { changeEvent } from './events.js';
import { baselined, openFeed } from './feed.js';
import { startOtherCrm, type OtherCrm } from './other-crm.js';
import type { TestRedis } from './redis.js';

/** Without `http`, the page has this token, which `get` and `act` send. */
export const OPERATE = 'operate-token-of-the-page-feed';
export const OPERATOR = { authorization: `Bearer ${OPERATE}` };

/** For a page with two roles. */
export const TOKENS = { read: 'read-token-7305918264', operate: 'operate-token-7305918264' };

export interface PageFeed {
  feed: Changefeed;
  crm: OtherCrm;
  url: string;
  get: <Answer>(path: string, headers?: Record<string, string>) => Promise<Answer>;
  act: (path: string, body?: object, headers?: Record<string, string>) => Promise<Response>;
}

export interface PageFeedOptions {
  subscriptions?: readonly Subscription[];
  http?: NonNullable<ConfigInput['http']>;
  /** With `poll`, every list has been read once. @defaultValue dispatch and handle: nothing is polled */
  roles?: readonly ('poll' | 'dispatch' | 'handle')[];
  crm?: OtherCrm;
  links?: Readonly<Record<string, string>>;
  lists?: object;
  destinations?: ConfigInput['destinations'];
  people?: ConfigInput['people'];
  /** The path of a file. */
  rules?: string;
}

/** Call it inside a test. The workspace is `acme`. */
export async function startPageFeed(
  redis: TestRedis,
  {
    subscriptions = [],
    http,
    roles = ['dispatch', 'handle'],
    crm: given,
    links = {},
    lists = {},
    ...more
  }: PageFeedOptions = {},
): Promise<PageFeed> {
  const crm = given ?? (await startOtherCrm());
  const budget = { requests: 10_000, perSeconds: 1 };
  const workspaces = [{ name: 'acme', baseUrl: crm.url, token: crm.token, budget, links, lists }];
  const stateDir = await mkdtemp(join(tmpdir(), 'changefeed-page-'));
  onTestFinished(() => rm(stateDir, { recursive: true, force: true }));
  const feed = await openFeed(
    redis,
    { ...more, workspaces, subscriptions, http: { port: 0, ...(http ?? { tokens: { operate: OPERATE } }) } },
    { http: true, stateDir },
  );
  await feed.start(roles);
  if (roles.includes('poll')) await baselined(feed);
  const url = feed.pageUrl ?? '';
  const credentials = http === undefined ? OPERATOR : {};
  return {
    feed,
    crm,
    url,
    async get(path, headers = {}) {
      const answer = await fetch(`${url}${path}`, { headers: { ...credentials, ...headers } });
      if (!answer.ok) throw new Error(`${path}: ${answer.status} ${await answer.text()}`);
      return (await answer.json()) as never;
    },
    act: (path, body = {}, headers = {}) =>
      fetch(`${url}${path}`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', 'x-changefeed-action': '1', ...credentials, ...headers },
        body: JSON.stringify(body),
      }),
  };
}

export function handlerOf(
  name: string,
  reasonOf: (subject: string) => string | null = () => null,
  handled: string[] = [],
): Subscription {
  return defineHandler({
    name,
    on: ['crm.*'],
    handle({ subject }) {
      const reason = reasonOf(subject);
      if (reason !== null) throw new PermanentError(reason);
      handled.push(subject);
    },
  });
}

export function personEvent(
  record: string,
  sequence: number,
  { fields = {}, changes = [] }: { fields?: object; changes?: ChangeEvent['data']['changes'] } = {},
): ChangeEvent {
  return changeEvent({ record, sequence, fields, data: { changes } });
}
