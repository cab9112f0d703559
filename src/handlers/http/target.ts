/** Checks the URL of a webhook as far as its text allows, before anything is sent. */
import { isIP } from 'node:net';
import { isNamed, refusalOf, type Allowances } from './address.js';

export interface Target {
  url: URL;
  /** Host and path, for messages and logs. Never the query: it often contains keys. */
  place: string;
}

export type TargetOutcome = { outcome: 'accepted'; target: Target } | { outcome: 'refused'; allowed: string };

/** A refusal names what is allowed. */
export function readTarget(text: string, allowances: Allowances): TargetOutcome {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || !/^https?:$/.test(url.protocol)) return refused('a URL that begins with https://');
  if (url.username !== '' || url.password !== '') {
    return refused('a URL without user name and password (the receiver checks the signature instead)');
  }
  const host = hostOf(url);
  if (isDisguised(text, host)) return refused('the address in its plain form, such as 203.0.113.7');
  const refusal = isNamed(host, allowances) ? null : refusalOfHost(host, url.protocol, allowances);
  if (refusal !== null) return refused(`${refusal}, unless allowHosts names "${host}"`);
  url.hash = '';
  return { outcome: 'accepted', target: { url, place: `${url.host}${url.pathname}` } };
}

/** The host without the brackets of an IPv6 address. */
function hostOf(url: URL): string {
  return url.hostname.replace(/^\[(.*)\]$/, '$1');
}

function refusalOfHost(host: string, protocol: string, allowances: Allowances): string | null {
  const refusal = isIP(host) === 0 ? refusalOfName(host) : refusalOf(host, allowances);
  if (refusal !== null) return `a public host (this is ${refusal})`;
  return protocol === 'https:' ? null : 'https (http is not encrypted)';
}

/** Other names are checked by the addresses they resolve to, at connect time. */
function refusalOfName(host: string): string | null {
  return /(^|\.)localhost\.?$/.test(host) ? 'this machine' : null;
}

/** `https://2130706433/`, `https://0x7f.1/` and similar forms hide an address and are refused. */
function isDisguised(text: string, host: string): boolean {
  if (isIP(host) !== 4) return false;
  const written = /^\s*[a-z]+:[/\\]*([^/\\?#]*)/i.exec(text)?.[1]?.replace(/:\d*$/, '');
  return written !== host;
}

function refused(allowed: string): TargetOutcome {
  return { outcome: 'refused', allowed };
}
