/** The options of whatever posts to a URL: where to, whom it may reach, how often. */
import { z } from 'zod';
import { formatDuration } from '../../runtime/duration.js';
import { isAllowHost, readAllowHosts, type Allowances } from './address.js';
import { intervalMsOf, rateSchema, type RateOptions } from './rate.js';
import { readTarget, type Target } from './target.js';

export interface EndpointOptions {
  /** Where events are posted. `https`, unless `allowHosts` names the host. */
  url: string;
  /** Host names, addresses or CIDR ranges allowed although they are private or without https. @defaultValue none */
  allowHosts?: readonly string[] | undefined;
  /** What one process sends at most. @defaultValue webhook: as fast as `concurrency` allows; message: one per second */
  rate?: RateOptions | undefined;
}

const A_URL = 'a URL that begins with https://';
const A_HOST =
  "a host name, an address or a CIDR range, without scheme, port or path (such as 'hooks.internal', '127.0.0.1', '10.1.0.0/16')";
const HOSTS = 'an array of host names, addresses or CIDR ranges';

export const endpointShape = {
  url: z.string({ error: A_URL }),
  allowHosts: z.array(z.string({ error: A_HOST }).refine(isAllowHost, { error: A_HOST }), { error: HOSTS }).default([]),
  rate: rateSchema.optional(),
};

interface Given {
  url: string;
  allowHosts: string[];
  rate?: z.output<typeof rateSchema> | undefined;
  concurrency: number;
  timeout: number;
}

/** Reads `url` and `allowHosts` together, since the one decides what the other may be. */
export function toEndpoint<Options extends Given>(
  { url, allowHosts, ...rest }: Options,
  context: z.RefinementCtx,
): Omit<Options, 'url' | 'allowHosts'> & { allowances: Allowances; target: Target } {
  const allowances = readAllowHosts(allowHosts);
  const result = readTarget(url, allowances);
  const tooSlow = slownessOf(rest);
  if (tooSlow !== undefined) context.addIssue({ code: 'custom', path: ['rate'], message: tooSlow });
  if (result.outcome === 'accepted') return { ...rest, allowances, target: result.target };
  context.addIssue({ code: 'custom', path: ['url'], message: result.allowed });
  return z.NEVER;
}

/** Those handled at the same time wait for each other within their timeout: it must leave room for the sending itself. */
function slownessOf({
  rate,
  concurrency,
  timeout,
}: Pick<Given, 'rate' | 'concurrency' | 'timeout'>): string | undefined {
  if (rate === undefined) return undefined;
  const queueMs = intervalMsOf(rate) * (concurrency - 1);
  if (queueMs <= timeout / 2) return undefined;
  return `a rate at which as many as concurrency (${concurrency}) get their turn within half of timeout (${formatDuration(timeout)}); lower concurrency, or raise timeout`;
}
