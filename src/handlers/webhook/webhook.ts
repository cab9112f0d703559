/** `webhook`: every event as a signed HTTP request. */
import { request, type Dispatcher } from 'undici';
import { ChangefeedError } from '../../errors.js';
import type { ChangeEvent } from '../../events/types.js';
import { systemClock, type Clock } from '../../runtime/clock.js';
import { formatDuration } from '../../runtime/duration.js';
import { parseOptions } from '../explain.js';
import type { HandlerContext, Subscription } from '../handler.js';
import { defineKind } from '../kind.js';
import { toSubscription } from '../options.js';
import { isAccepted, refusalError } from './answer.js';
import { readExcerpt } from './excerpt.js';
import { guardedAgent, systemResolve, type Resolve } from './guard.js';
import { encodeMessage } from './message.js';
import { WEBHOOK_RETRY, webhookSchema, type WebhookOptions, type WebhookSettings } from './options.js';
import { createSigner, type Sign } from './sign.js';

/**
 * A subscription that posts each event to a URL: a CloudEvent, signed as Standard Webhooks specifies. Any 2xx is success;
 * `Retry-After` is honoured; 410 makes dead letters at once; all else is retried over hours. Redirects are not followed,
 * and private addresses are refused unless `allowHosts` names them.
 * @throws ChangefeedError `CF_CONFIG_INVALID`; its deliveries fail with `CF_DELIVERY_REFUSED` or `CF_ADDRESS_REFUSED`
 */
export function webhook(options: WebhookOptions): Subscription {
  return createWebhook(parseOptions(webhookSchema, options, { where: '', kind: 'webhook' }));
}

export const webhookKind = defineKind('webhook', webhookSchema, (options) => createWebhook(options));

export interface WebhookWorld {
  clock: Clock;
  resolve: Resolve;
}

export function createWebhook(
  settings: WebhookSettings,
  { clock = systemClock, resolve = systemResolve }: Partial<WebhookWorld> = {},
): Subscription {
  const agent = guardedAgent({ allowances: settings.allowances, resolve, timeoutMs: settings.timeout });
  const sender: Sender = { settings, clock, agent, sign: createSigner(settings.secret) };
  return toSubscription(settings, {
    handler: 'webhook',
    retry: WEBHOOK_RETRY,
    handle: (event, context) => deliver(event, context, sender),
    close: () => agent.destroy(),
  });
}

interface Sender {
  settings: WebhookSettings;
  clock: Clock;
  agent: Dispatcher;
  sign: Sign;
}

async function deliver(event: ChangeEvent, { log, signal }: HandlerContext, sender: Sender): Promise<void> {
  const { settings, clock } = sender;
  const { name: subscription, target } = settings;
  const startedAt = clock.now();
  const { statusCode: status, headers, body } = await post(event, signal, sender);
  log.debug({ place: target.place, status, ms: clock.now() - startedAt }, 'webhook answered');
  if (isAccepted(status)) {
    // The event has arrived, whatever becomes of the rest; reading it on frees the connection for the next one.
    body.dump().catch(() => undefined);
    return;
  }
  const retryAfter = headers['retry-after'];
  const answer = {
    status,
    retryAfter: typeof retryAfter === 'string' ? retryAfter : undefined,
    excerpt: await readExcerpt(body, hiddenOf(settings)),
  };
  if (status === 410) log.error({ place: target.place, status }, 'webhook endpoint is gone for good');
  throw refusalError(answer, { subscription, place: target.place, now: clock.now() });
}

async function post(event: ChangeEvent, signal: AbortSignal, sender: Sender): Promise<Dispatcher.ResponseData> {
  const { settings, clock, agent, sign } = sender;
  const { headers, body } = encodeMessage(event, settings.mode);
  const signature = sign({ id: event.id, body, now: clock.now() });
  try {
    return await request(settings.target.url, {
      method: 'POST',
      headers: { 'user-agent': 'crm-changefeed', ...headers, ...signature },
      body,
      dispatcher: agent,
      signal,
    });
  } catch (error) {
    throw unreachable(error, settings);
  }
}

function unreachable(error: unknown, { name: subscription, target, timeout }: WebhookSettings): ChangefeedError {
  const start = `Webhook "${subscription}": ${target.place}`;
  if (error instanceof ChangefeedError) {
    const message = `${start}: ${error.message}`;
    return new ChangefeedError(error.code, { ...error.facts, message, subscription, place: target.place });
  }
  const message = `${start} ${failureOf(error as NodeJS.ErrnoException, timeout)}. The event is tried again.`;
  return new ChangefeedError('CF_DELIVERY_REFUSED', { message, subscription, place: target.place, cause: error });
}

function failureOf({ code, name }: NodeJS.ErrnoException, timeoutMs: number): string {
  if (name === 'TimeoutError' || /TIMEOUT|TIMEDOUT/.test(String(code)))
    return `did not answer within ${formatDuration(timeoutMs)}`;
  if (name === 'AbortError') return 'was given up before it answered';
  return `could not be reached (${code ?? name})`;
}

/** What a receiver might send back at us and no message may show. */
function hiddenOf({ secret, target }: WebhookSettings): string[] {
  const keys = secret.map((text) => text.slice('whsec_'.length));
  return [...keys, target.url.search.slice(1), ...target.url.searchParams.values()];
}
