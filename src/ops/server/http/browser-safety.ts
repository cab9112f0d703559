/** Keeps a browser safe: headers of every answer, and checks that no other site can act through it. Pure. */
import type { IncomingHttpHeaders } from 'node:http';

/** Nothing from elsewhere, no inline script and no inline style: a text from the CRM cannot become code. */
const CONTENT_SECURITY_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "font-src 'self'",
  "manifest-src 'self'",
  "base-uri 'none'",
  "form-action 'self'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
  "trusted-types 'none'",
].join('; ');

export const SECURITY_HEADERS = {
  'content-security-policy': CONTENT_SECURITY_POLICY,
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
  'referrer-policy': 'no-referrer',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'permissions-policy': 'camera=(), geolocation=(), microphone=()',
} as const;

/** A form of another site cannot send it, and a script of another site may not. */
const ACTION_HEADER = 'x-changefeed-action';

/** @param isProgram it brings a token itself, which no browser adds for another site */
export function isSameSite(headers: IncomingHttpHeaders, isProgram = false): boolean {
  const { origin, host } = headers;
  const site = headers['sec-fetch-site'];
  if (headers[ACTION_HEADER] === undefined && !isProgram) return false;
  if (site !== undefined && site !== 'same-origin' && site !== 'none') return false;
  return origin === undefined || (URL.canParse(origin) && new URL(origin).host === host);
}

/** Whether another site has the browser send this request. The answer would be hidden from it, not the work. */
export function isCrossSite(headers: IncomingHttpHeaders): boolean {
  return headers['sec-fetch-site'] === 'cross-site';
}

/** Whether a proxy passes this request on. A proxy without a user's consent would make everyone a local user. */
export function isForwarded(headers: IncomingHttpHeaders): boolean {
  return Object.keys(headers).some((name) => /^(x-forwarded-.+|x-real-ip|forwarded|via)$/.test(name));
}

/** Another name can lead here too, if its owner has it resolve to the address of this server. */
export function isOwnHost(host: string | undefined, further: readonly string[] = []): boolean {
  const name = (host ?? '').replace(/:\d+$/, '').toLowerCase();
  return /^(localhost|.+\.localhost|127(\.\d{1,3}){3}|\[::1\])$/.test(name) || further.includes(name);
}
