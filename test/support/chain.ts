/** Both ends of the product for a test: a sandbox, and a receiver that checks every signature with the official package. */
import { Webhook } from 'standardwebhooks';
import { descriptorOf, LIST_NAMES } from '../../src/crm/lists/lists.js';
import type { ChangeEvent } from '../../src/events/types.js';
import type { Sandbox, SandboxOptions } from '../../sandbox/sandbox.js';
import { useReceivers, type Receiver, type Received, type Reply } from './handler-fixtures.js';
import type { Difference } from './api-state.js';
import { served } from './sandbox.js';

export const SECRET = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';

export interface Chain {
  sandbox: Sandbox;
  url: string;
  token: string;
  receiver: Receiver;
  config(interval: string, prefix: string): object;
  deliveries(): ChangeEvent[];
  changes(): ChangeEvent[];
}

/** Call it at the top of a file. Everything it opens is closed after each test. */
export function useChain(): (options?: {
  sandbox?: SandboxOptions;
  reply?: (request: Received) => Reply | 'silence';
}) => Promise<Chain> {
  const receivers = useReceivers();
  return async ({ sandbox: options = {}, reply } = {}) => {
    const sizes = { people: 60, history: 60, activity: 60 };
    const { sandbox, target } = await served({ ...sizes, seed: 7, start: Date.UTC(2026, 0, 1), ...options });
    const { url, token } = target;
    const receiver = await receivers(reply);
    return {
      sandbox,
      url,
      token,
      receiver,
      config: (interval, prefix) => chainConfig({ url, token, hook: receiver.url, interval, prefix }),
      deliveries: () => receiver.received.map(verified),
      changes: () => receiver.received.map(verified).filter(({ type }) => /\.(created|updated|deleted)$/.test(type)),
    };
  };
}

function chainConfig(given: { url: string; token: string; hook: string; interval: string; prefix: string }): object {
  const { url, token, hook, interval, prefix } = given;
  const lists = Object.fromEntries(LIST_NAMES.map((name) => [name, { interval, removals: { after: '0s' } }]));
  const budget = { requests: 10_000, perSeconds: 1 };
  const retry = { attempts: 20, delay: '50ms', maxDelay: '500ms' };
  return {
    workspaces: [{ name: 'acme', baseUrl: url, token, budget, lists }],
    subscriptions: [
      { handler: 'webhook', name: 'ops', url: hook, secret: SECRET, on: ['crm.*'], allowHosts: ['127.0.0.1'], retry },
    ],
    redis: { prefix },
  };
}

function verified({ body, headers }: Received): ChangeEvent {
  return new Webhook(SECRET).verify(body, headers as Record<string, string>) as ChangeEvent;
}

export function expectedEvent({ list, id, before, after, fields }: Difference): object {
  const verb = before === null ? 'created' : 'updated';
  return { type: `crm.${descriptorOf(list).object}.${verb}`, subject: id, before, after, fields };
}

export function saidBy({ type, subject, data }: ChangeEvent): object {
  return {
    type,
    subject,
    before: data.before,
    after: data.after,
    fields: data.changes.map(({ field }) => field).sort(),
  };
}
