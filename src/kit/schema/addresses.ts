/** Checks of addresses and tokens. The messages never repeat the value, because it may hold a secret. */
import ipaddr from 'ipaddr.js';
import { z } from 'zod';
import { checked } from './fields.js';
import { readRedisUrl } from './redis-url.js';
import { address, secret } from './secret.js';

export const A_BASE_URL = 'an http or https URL, the part before /v2, such as https://crm.example/api';
export const baseUrl = address(checked(A_BASE_URL, baseUrlFault));

export function baseUrlFault(text: string): string | undefined {
  if (!URL.canParse(text)) return 'this is not a URL';
  const { protocol, username, password, pathname } = new URL(text);
  if (protocol !== 'https:' && protocol !== 'http:') return `this begins with ${protocol}`;
  if (username !== '' || password !== '') return 'this holds a user name or password';
  // The text, not the parsed URL: a bare "?" or "#" parses to an empty query and would still end the path.
  if (/[?#]/.test(text)) return 'this holds a query or a fragment';
  return /\/v2\/*$/.test(pathname) ? 'this already ends in /v2' : undefined;
}

/** Equal for every spelling of one source (case of the host, default port, trailing slashes). */
export function normaliseBaseUrl(url: string): string {
  const { origin, pathname } = new URL(url);
  return origin + pathname.replace(/\/+$/, '');
}

/** Whether an address of the API or of Redis is not encrypted, and beyond private networks. */
export function sendsInClear(url: string): boolean {
  const redis = readRedisUrl(url);
  if (typeof redis !== 'string') return !redis.isEncrypted && redis.nodes.some(({ host }) => isPublicHost(host));
  const { protocol, hostname } = new URL(url);
  return protocol === 'http:' && isPublicHost(hostname);
}

/** A name without a dot is one of a private network. */
export function isPublicHost(name: string): boolean {
  const host = name.replace(/^\[(.*)\]$/, '$1');
  if (ipaddr.isValid(host)) return ipaddr.process(host).range() === 'unicast';
  return host.includes('.') && !/\.(localhost|local|internal|lan|home\.arpa)\.?$/.test(host);
}

export const A_REDIS_URL =
  'a URL such as redis://:password@host:6379/0, rediss://…, redis+cluster://host,host or redis+sentinel://host,host/name';
export const redisUrl = secret(checked(A_REDIS_URL, redisUrlFault));

export function redisUrlFault(text: string): string | undefined {
  const read = readRedisUrl(text);
  return typeof read === 'string' ? read : undefined;
}

export const redisNode = secret(
  checked('the address of a node, such as 10.0.0.7:6379', (text) => {
    if (/[/?#@,]/.test(text)) return 'a user, a password or TLS are written in url';
    return redisUrlFault(`redis+cluster://${text}`);
  }),
);

export const A_TOKEN = 'the API token alone, without "Bearer" and without spaces';

/** White space around it is dropped: a secret file ends in a line break. */
export const apiToken = secret(
  z
    .string({ error: A_TOKEN })
    .trim()
    .regex(/^(?!bearer$)[\x21-\x7e]+$/i, { error: A_TOKEN }),
);

export const addressRange = checked('an address or a CIDR range, such as 10.0.0.7 or 10.0.0.0/8', (text) =>
  ipaddr.isValid(text) || ipaddr.isValidCIDR(text) ? undefined : 'this is neither',
);

export function isLoopback(host: string): boolean {
  if (host === 'localhost') return true;
  return ipaddr.isValid(host) && ipaddr.process(host).range() === 'loopback';
}
