/** The options of handlers that post to a URL: the target, allowed hosts, the rate, and when a failing endpoint is disabled. */
import { z } from 'zod';
import { duration, strictOptions, wholeNumber } from '../../schema-kit/fields.js';
import { secret } from '../../schema-kit/secret.js';
import { LONGEST_WAIT } from '../options.js';
import { isAllowHost, readAllowHosts, type Allowances } from './address.js';
import { readTarget, type Target } from './target.js';

const A_HOST =
  "a host name, an address or a CIDR range, without scheme, port or path (such as 'hooks.internal', '127.0.0.1', '10.1.0.0/16')";

export const rateOptions = strictOptions({
  /** Requests in any `perSeconds`, evenly spread. */
  requests: wholeNumber(1, 10_000),
  /** Length of this period, in seconds. @defaultValue 1 */
  perSeconds: wholeNumber(1, 3_600).default(1),
});

export const endpointShape = {
  /** Where events are posted. `https`, unless `allowHosts` names the host. */
  url: secret(z.string({ error: 'a URL that begins with https://' })),
  /** Host names, addresses or CIDR ranges that are allowed although they are private or have no https. @defaultValue none */
  allowHosts: z
    .array(z.string({ error: A_HOST }).refine(isAllowHost, { error: A_HOST }), {
      error: 'an array of host names, addresses or CIDR ranges',
    })
    .readonly()
    .default([]),
  /** Upper bound of the requests that all processes together send. @defaultValue as fast as `concurrency` allows; message: one per second */
  rate: rateOptions.optional(),
  /**
   * The subscription is disabled when no attempt has succeeded for this long; `false`: never. `changefeed enable` enables it
   * again. @defaultValue '5d'
   */
  disableAfter: z
    .union([z.literal(false), duration({ from: '1ms', to: LONGEST_WAIT })], {
      error: `false, or a duration in quotes with its unit, such as '12h' or '5d' (at most '${LONGEST_WAIT}')`,
    })
    .prefault('5d'),
};

export type EndpointOptions = z.input<z.ZodObject<typeof endpointShape>>;
export type RateOptions = z.input<typeof rateOptions>;

interface Given {
  url: string;
  allowHosts: readonly string[];
}

/** Reads `url` and `allowHosts` together: the hosts decide which URLs are allowed. */
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
