/** What keeps a browser safe: headers of every answer, and the checks that no other site can act through it. Pure. */
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

/** Whether an action comes from this page, or from a program. */
export function isSameSite(headers: IncomingHttpHeaders): boolean {
  const { origin, host } = headers;
  const site = headers['sec-fetch-site'];
  if (headers[ACTION_HEADER] === undefined) return false;
  if (site !== undefined && site !== 'same-origin' && site !== 'none') return false;
  return origin === undefined || (URL.canParse(origin) && new URL(origin).host === host);
}

/** The name of this machine for itself. Another name can lead here too, if its owner has it resolve to a loopback address. */
export function isOwnHost(host: string | undefined): boolean {
  const name = (host ?? '').replace(/:\d+$/, '').toLowerCase();
  return /^(localhost|.+\.localhost|127(\.\d{1,3}){3}|\[::1\])$/.test(name);
}
