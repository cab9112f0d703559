/** The kinds of handlers of this package. To add one: a folder with `defineKind` (smallest: `ndjson/`), a name in `KINDS`, an export in `src/index.ts`. */
import { describe, type ChangefeedError } from '../../kit/errors.js';
import { bullmq } from './bullmq/bullmq.js';
import { email } from './email/email.js';
import { didYouMean } from '../../kit/schema/did-you-mean.js';
import { optionsError } from '../../kit/schema/problem.js';
import type { Subscription } from './handler.js';
import type { Kind } from './kind.js';
import { message } from './message/message.js';
import { todoReport } from './message/todo-report.js';
import type { SubscriptionOptions } from './options.js';
import { ndjson } from './ndjson/ndjson.js';
import { postgres } from './postgres/postgres.js';
import { pull } from './pull/pull.js';
import { webhook } from './webhook/webhook.js';

/** A subscription of any of them is made of data: what the options mean is known to the kind alone. */
export type AnyKind = Pick<Kind, 'handler' | 'words' | 'schema' | 'build'>;

/** A handler as data, as in `changefeed.config.json`. */
export interface SubscriptionData extends SubscriptionOptions {
  /** `webhook`, `ndjson` … */
  handler: string;
  /** The handler's own options. */
  [option: string]: unknown;
}

export const KINDS: readonly AnyKind[] = [bullmq, email, message, ndjson, postgres, pull, todoReport, webhook];

/** `custom` is what `defineHandler` makes. */
export const isTaken = (name: string): boolean => name === 'custom' || KINDS.some(({ handler }) => handler === name);

const namesOf = (kinds: readonly AnyKind[]): string =>
  new Intl.ListFormat('en', { type: 'disjunction' }).format(kinds.map(({ handler }) => JSON.stringify(handler)));

/**
 * @param kinds those of others are among them
 * @throws ChangefeedError `CF_CONFIG_INVALID`
 */
export function buildSubscription(raw: unknown, kinds: readonly AnyKind[] = KINDS): Subscription {
  if (isSubscription(raw)) return raw;
  if (typeof raw !== 'object' || raw === null || Array.isArray(raw)) {
    const allowed = 'what defineHandler or a built-in handler such as webhook returns, or an object with "handler"';
    throw invalid([], `found ${describe(raw)}; allowed: ${allowed}: ${namesOf(kinds)}`);
  }
  if (!('handler' in raw) && 'handle' in raw) {
    throw invalid([], 'found a plain object with a handle function; wrap it: defineHandler({ … })');
  }
  const { handler, ...options } = raw as Record<string, unknown>;
  const kind = kinds.find((candidate) => candidate.handler === handler);
  if (kind === undefined) throw invalid(['handler'], unknownKind(handler, kinds));
  return kind.build(options);
}

/** Not `instanceof`: a configuration file may load its own copy of this package. Only factories set these two. */
function isSubscription(value: unknown): value is Subscription {
  if (typeof value !== 'object' || value === null) return false;
  const { name, handler, on, handle, timeoutMs, retry } = value as Partial<Record<keyof Subscription, unknown>>;
  return (
    typeof name === 'string' &&
    typeof handler === 'string' &&
    Array.isArray(on) &&
    typeof handle === 'function' &&
    typeof timeoutMs === 'number' &&
    typeof (retry as { delayMs?: unknown } | undefined)?.delayMs === 'number'
  );
}

function unknownKind(handler: unknown, kinds: readonly AnyKind[]): string {
  const name = typeof handler === 'string' && handler.length <= 64 ? handler : '';
  const found = name === '' ? describe(handler) : JSON.stringify(name);
  const known = kinds.map((kind) => kind.handler);
  return `found ${found}; allowed: ${namesOf(kinds)}${didYouMean(name, known)}; handlers written in code need a configuration file in TypeScript or JavaScript`;
}

function invalid(path: string[], problem: string): ChangefeedError {
  return optionsError([{ path, problem }]);
}
