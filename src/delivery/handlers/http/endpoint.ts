/** Options of handlers that post to a URL: target, allowed hosts, rate, and when a failing one is paused. */
import { createHash } from 'node:crypto';
import { isIP } from 'node:net';
import { z } from 'zod';
import { duration, strictOptions, wholeNumber } from '../../../kit/schema/fields.js';
import { secret } from '../../../kit/schema/secret.js';
import type { RetryPolicy } from '../handler.js';
import { LONGEST_WAIT } from '../options.js';
import { isAllowHost, isNamed, readAllowHosts, refusalOf, type Allowances } from './guard.js';

const A_URL = 'a URL that begins with https://';
const A_HOST =
  "a host name, an address or a CIDR range, without scheme, port or path (such as 'hooks.internal', '127.0.0.1', '10.1.0.0/16')";

/** Spans a night: the fifteenth attempt comes 7 to 14 hours after the first (docs/handlers.md has the table). */
export const ENDPOINT_RETRY: RetryPolicy = { attempts: 15, delayMs: 5_000, maxDelayMs: 4 * 3_600_000 };

export const rateOptions = strictOptions({
  /** Requests in any `perSeconds`, evenly spread. */
  requests: wholeNumber(1, 10_000),
  /** Length of this period, in seconds. @defaultValue 1 */
  perSeconds: wholeNumber(1, 3_600).default(1),
});

export const endpointShape = {
  /** Where events are posted. `https`, unless `allowHosts` names the host. KakaoWork: `https://api.kakaowork.com/v1`. */
  url: secret(z.string({ error: A_URL })),
  /** Host names, addresses or CIDR ranges that are allowed although they are private or have no https. @defaultValue none */
  allowHosts: z
    .array(z.string({ error: A_HOST }).refine(isAllowHost, { error: A_HOST }), {
      error: 'an array of host names, addresses or CIDR ranges',
    })
    .readonly()
    .default([]),
  /** Upper bound of the requests to the URL, of all that post there, in all processes. @defaultValue as fast as `concurrency` allows; message: one per second */
  rate: rateOptions.optional(),
  /**
   * The subscription is paused when no attempt has succeeded for this long; `false`: never. `changefeed resume` resumes
   * it. @defaultValue '5d'
   */
  disableAfter: z
    .union([z.literal(false), duration({ from: '1ms', to: LONGEST_WAIT })], {
      error: `false, or a duration in quotes with its unit, such as '12h' or '5d' (at most '${LONGEST_WAIT}')`,
    })
    .transform((given) => (given === false ? undefined : given))
    .prefault('5d'),
};

/** Where a handler posts to, and what it may reach. */
export type EndpointOptions = z.input<z.ZodObject<typeof endpointShape>>;
/** At most this many requests in this time. */
export type RateOptions = z.input<typeof rateOptions>;

/** Reads `url` and `allowHosts` together: the hosts decide which URLs are allowed. */
export function toEndpoint<Options extends { url: string; allowHosts: readonly string[] }>(
  { url: text, allowHosts, ...rest }: Options,
  context: z.RefinementCtx,
): Omit<Options, 'url' | 'allowHosts'> & { allowances: Allowances; url: URL } {
  const allowances = readAllowHosts(allowHosts);
  const url = URL.canParse(text) ? new URL(text) : null;
  const allowed = url === null ? A_URL : allowedInstead(text, url, allowances);
  if (url === null || allowed !== null) {
    context.addIssue({ code: 'custom', path: ['url'], message: allowed ?? A_URL });
    return z.NEVER;
  }
  url.hash = '';
  return { ...rest, allowances, url };
}

/**
 * The same for all that post there. The path may be a secret, so it is not kept as it is.
 * @param within what tells receivers at one address apart
 */
export function destinationOf({ host, pathname }: URL, within = ''): string {
  return createHash('sha256').update(`${host}${pathname}${within}`).digest('hex').slice(0, 32);
}

const LONGEST_SHOWN = 15;

/** Host and first part of the path, for messages and logs: what follows, or is long, is often the only secret. */
export function placeOf({ host, pathname }: URL): string {
  const [first = '', ...more] = pathname.slice(1).split('/');
  const isShown = first.length <= LONGEST_SHOWN;
  return `${host}/${isShown ? first : '…'}${isShown && more.join('') !== '' ? '/…' : ''}`;
}

/** The parts of an address that a receiver might quote and no message may show. */
export function hiddenParts({ pathname, search, searchParams }: URL): string[] {
  const parts = pathname.slice(1).split('/');
  const secrets = parts.filter((part) => part.length > LONGEST_SHOWN);
  const raw = search
    .slice(1)
    .split('&')
    .map((one) => one.slice(one.indexOf('=') + 1));
  // A receiver may quote one as it was sent, or as it reads it.
  return [parts.slice(1).join('/'), ...secrets, search.slice(1), ...raw, ...searchParams.values()];
}

/** The allowed form, where the text of the URL shows that it must not be used; null if it is allowed. */
function allowedInstead(text: string, url: URL, allowances: Allowances): string | null {
  if (!/^https?:$/.test(url.protocol)) return A_URL;
  if (url.username !== '' || url.password !== '')
    return 'a URL without user name and password (for a webhook, put them into headers)';
  // Without the brackets of an IPv6 address.
  const host = url.hostname.replace(/^\[(.*)\]$/, '$1');
  if (isDisguised(text, host)) return 'the address in its plain form, such as 203.0.113.7';
  if (isNamed(host, allowances)) return null;
  // Other names are checked by the addresses they resolve to, at connect time.
  const refusalOfName = /(^|\.)localhost\.?$/.test(host) ? 'this machine' : null;
  const refusal = isIP(host) === 0 ? refusalOfName : refusalOf(host, allowances);
  const unless = `, unless allowHosts names "${host}"`;
  if (refusal !== null) return `a public host (this is ${refusal})${unless}`;
  return url.protocol === 'https:' ? null : `https (http is not encrypted)${unless}`;
}

/** `https://2130706433/`, `https://0x7f.1/` and similar forms hide an address and are refused. */
function isDisguised(text: string, host: string): boolean {
  if (isIP(host) !== 4) return false;
  const written = /^\s*[a-z]+:[/\\]*([^/\\?#]*)/i.exec(text)?.[1]?.replace(/:\d*$/, '');
  return written !== host;
}
