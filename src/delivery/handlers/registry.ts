/** To add one: a folder with `defineKind` (smallest: `ndjson/`), a line in `KINDS`, an export in `src/index.ts`. */
import { describe, type ChangefeedError } from '../../kit/errors.js';
import { bullmqKind } from './bullmq/bullmq.js';
import { emailKind } from './email/email.js';
import { didYouMean } from '../../kit/schema/did-you-mean.js';
import { optionsError } from '../../kit/schema/problem.js';
import type { Subscription } from './handler.js';
import type { Kind } from './kind.js';
import { messageKind } from './message/message.js';
import { todoReportKind } from './message/todo-report.js';
import { ndjsonKind } from './ndjson/ndjson.js';
import { postgresKind } from './postgres/postgres.js';
import { pullKind } from './pull/pull.js';
import { webhookKind } from './webhook/webhook.js';

export const KINDS: readonly Kind[] = [
  bullmqKind,
  emailKind,
  messageKind,
  ndjsonKind,
  postgresKind,
  pullKind,
  todoReportKind,
  webhookKind,
];

const KIND_NAMES = KINDS.map((kind) => kind.handler);
const ALLOWED_KINDS = new Intl.ListFormat('en', { type: 'disjunction' }).format(
  KIND_NAMES.map((name) => JSON.stringify(name)),
);

/** @throws ChangefeedError `CF_CONFIG_INVALID` */
export function buildSubscription(raw: unknown): Subscription {
  if (isSubscription(raw)) return raw;
  if (typeof raw !== 'object' || raw === null || Array.isArray(raw)) {
    const allowed = 'what defineHandler or a built-in handler such as webhook returns, or an object with "handler"';
    throw invalid([], `found ${describe(raw)}; allowed: ${allowed}: ${ALLOWED_KINDS}`);
  }
  if (!('handler' in raw) && 'handle' in raw) {
    throw invalid([], 'found a plain object with a handle function; wrap it: defineHandler({ … })');
  }
  const { handler, ...options } = raw as Record<string, unknown>;
  const kind = KINDS.find((candidate) => candidate.handler === handler);
  if (kind === undefined) throw invalid(['handler'], unknownKind(handler));
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

function unknownKind(handler: unknown): string {
  const name = typeof handler === 'string' && handler.length <= 64 ? handler : '';
  const found = name === '' ? describe(handler) : JSON.stringify(name);
  const meant = didYouMean(name, KIND_NAMES);
  return `found ${found}; allowed: ${ALLOWED_KINDS}${meant}; handlers written in code need a configuration file in TypeScript or JavaScript`;
}

function invalid(path: string[], problem: string): ChangefeedError {
  return optionsError([{ path, problem }]);
}
