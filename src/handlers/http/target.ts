/** The URL of a webhook, checked before anything is sent: what can be seen from the text alone is refused here. */
import { isIP } from 'node:net';
import { isNamed, refusalOf, type Allowances } from './address.js';

export interface Target {
  url: URL;
  /** Host and path, for messages and logs. Never the query: that is where people put keys. */
  place: string;
}

export type TargetOutcome = { outcome: 'accepted'; target: Target } | { outcome: 'refused'; allowed: string };

/** A refusal says what would be allowed. */
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

/** The host as sockets want it: an IPv6 address without its brackets. */
function hostOf(url: URL): string {
  return url.hostname.replace(/^\[(.*)\]$/, '$1');
}

function refusalOfHost(host: string, protocol: string, allowances: Allowances): string | null {
  const refusal = isIP(host) === 0 ? refusalOfName(host) : refusalOf(host, allowances);
  if (refusal !== null) return `a public host (this is ${refusal})`;
  return protocol === 'https:' ? null : 'https (what http carries can be read on the way)';
}

/** Other names are judged by what they resolve to, when they are connected to. */
function refusalOfName(host: string): string | null {
  return /(^|\.)localhost\.?$/.test(host) ? 'this machine' : null;
}

/** `https://2130706433/`, `https://0x7f.1/` and their like: who means well writes an address plainly. */
function isDisguised(text: string, host: string): boolean {
  if (isIP(host) !== 4) return false;
  const written = /^\s*[a-z]+:[/\\]*([^/\\?#]*)/i.exec(text)?.[1]?.replace(/:\d*$/, '');
  return written !== host;
}

function refused(allowed: string): TargetOutcome {
  return { outcome: 'refused', allowed };
}
