/** The options of whatever posts to a URL: where to, whom it may reach, how often, until when. */
import { z } from 'zod';
import type { Rate } from '../handler.js';
import { LONGEST_WAIT, type SubscriptionParts } from '../options.js';
import { duration } from '../../schema-kit/fields.js';
import { isAllowHost, readAllowHosts, type Allowances } from './address.js';
import { rateSchema, type RateOptions } from './rate.js';
import { readTarget, type Target } from './target.js';

export interface EndpointOptions {
  /** Where events are posted. `https`, unless `allowHosts` names the host. */
  url: string;
  /** Host names, addresses or CIDR ranges allowed although they are private or without https. @defaultValue none */
  allowHosts?: readonly string[] | undefined;
  /** What all processes together send at most. @defaultValue webhook: as fast as `concurrency` allows; message: one per second */
  rate?: RateOptions | undefined;
  /** Disabled when no try has succeeded for so long; `false`: never. Enabled again by `changefeed enable`. @defaultValue '5d' */
  disableAfter?: string | false | undefined;
}

const A_URL = 'a URL that begins with https://';
const A_HOST =
  "a host name, an address or a CIDR range, without scheme, port or path (such as 'hooks.internal', '127.0.0.1', '10.1.0.0/16')";
const AN_OUTAGE = `false, or a duration in quotes with its unit, such as '12h' or '5d' (at most '24d')`;
const HOSTS = 'an array of host names, addresses or CIDR ranges';

export const endpointShape = {
  url: z.string({ error: A_URL }),
  allowHosts: z.array(z.string({ error: A_HOST }).refine(isAllowHost, { error: A_HOST }), { error: HOSTS }).default([]),
  rate: rateSchema.optional(),
  disableAfter: z
    .union([z.literal(false), duration({ from: '1ms', to: LONGEST_WAIT })], { error: AN_OUTAGE })
    .default(5 * 86_400_000),
};

interface Given {
  url: string;
  allowHosts: string[];
}

/** Reads `url` and `allowHosts` together, since the one decides what the other may be. */
export function toEndpoint<Options extends Given>(
  { url, allowHosts, ...rest }: Options,
  context: z.RefinementCtx,
): Omit<Options, 'url' | 'allowHosts'> & { allowances: Allowances; target: Target } {
  const allowances = readAllowHosts(allowHosts);
  const result = readTarget(url, allowances);
  if (result.outcome === 'accepted') return { ...rest, allowances, target: result.target };
  context.addIssue({ code: 'custom', path: ['url'], message: result.allowed });
  return z.NEVER;
}

/** What of these options is not the handler's affair but that of whoever runs it. */
export function deliveryParts({
  rate,
  disableAfter,
}: {
  rate?: Rate | undefined;
  disableAfter: number | false;
}): Pick<SubscriptionParts, 'rate' | 'disableAfterMs'> {
  return { ...(rate && { rate }), ...(disableAfter !== false && { disableAfterMs: disableAfter }) };
}
