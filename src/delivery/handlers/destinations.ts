/** Named receivers: a rule names one, so that no address and no secret is written where rules are made. */
import type { z } from 'zod';
import { ChangefeedError, describe } from '../../kit/errors.js';
import { strictOptions } from '../../kit/schema/fields.js';
import { problemsIn, type ConfigProblem, type Path } from '../../kit/schema/problem.js';
import { endpointShape } from './http/endpoint.js';
import { parseOptions } from './kind.js';
import { mailShape } from './email/email.js';
import { aboutShape, chatShape } from './message/chat.js';
import { buttonShape } from './message/clicks.js';
import { buildSubscription } from './registry.js';
import { webhookOptions } from './webhook/webhook.js';

const { secret, format, headers, thin } = webhookOptions.shape;

/** What a destination may have, by its `handler`: where something is sent, and nothing about what. */
export const DESTINATIONS = {
  email: strictOptions(mailShape),
  message: strictOptions({ ...endpointShape, ...chatShape, ...aboutShape, ...buttonShape }),
  webhook: strictOptions({ ...endpointShape, secret, format, headers, thin }),
};

export type Destination = {
  readonly [Handler in keyof typeof DESTINATIONS]: { readonly handler: Handler } & z.input<
    (typeof DESTINATIONS)[Handler]
  >;
}[keyof typeof DESTINATIONS];

/** The host, as a person may see it. */
export function placeOfDestination(destination: Destination): string {
  const address = 'server' in destination ? destination.server : destination.url;
  return URL.canParse(address) ? new URL(address).host : '';
}

/** A person reads the name. */
const LONGEST_NAME = 64;

export function destinationProblems(given: unknown): ConfigProblem[] {
  if (typeof given !== 'object' || given === null) return [];
  return Object.entries(given as Readonly<Record<string, unknown>>).flatMap(([name, one]) => {
    const path = ['destinations', name];
    if (name.trim() === '' || name.length > LONGEST_NAME)
      return [{ path, problem: `found a name of ${name.length} characters; allowed: 1 to ${LONGEST_NAME}` }];
    return problemsOfOne(one, path);
  });
}

function problemsOfOne(given: unknown, path: Path): ConfigProblem[] {
  const { handler, ...options } = (typeof given === 'object' && given !== null ? given : {}) as { handler?: unknown };
  const kind = Object.keys(DESTINATIONS).find((one) => one === handler) as keyof typeof DESTINATIONS | undefined;
  if (kind === undefined) {
    const found = typeof handler === 'string' ? JSON.stringify(handler.slice(0, 40)) : describe(handler);
    return [{ path: [...path, 'handler'], problem: `found ${found}; allowed: "message", "email" or "webhook"` }];
  }
  try {
    parseOptions(DESTINATIONS[kind], options, kind);
    // The address is checked together with the hosts that are allowed.
    buildSubscription({ ...options, handler, name: 'destination' });
    return [];
  } catch (error) {
    if (!(error instanceof ChangefeedError)) throw error;
    return problemsIn(error).map((one) => ({ ...one, owner: undefined, path: [...path, ...one.path] }));
  }
}
