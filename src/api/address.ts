/** Where the API lives and how to sign in, checked once at start: a wrong address must not look like an outage later. */
import { ChangefeedError } from '../errors.js';
import { descriptorOf, type ListRef } from '../crm/lists/lists.js';

export interface ApiAddress {
  readonly origin: string;
  /** Name and port, for messages. */
  readonly host: string;
  /** Path and query of one page of a list. */
  pathOf(list: ListRef, cursor: string | null): string;
}

/**
 * Understands what stands before `/v2`, with or without a path and a trailing slash.
 * @throws ChangefeedError CF_CONFIG_INVALID; the URL itself is not repeated, it may hold a secret
 */
export function parseBaseUrl(baseUrl: string, workspace: string): ApiAddress {
  const url = URL.canParse(baseUrl) ? new URL(baseUrl) : undefined;
  const fault = url === undefined ? 'it is not a URL' : faultOf(url, baseUrl);
  if (url === undefined || fault !== undefined) {
    throw new ChangefeedError('CF_CONFIG_INVALID', {
      workspace,
      message:
        `Workspace "${workspace}": baseUrl cannot be used, ${fault ?? 'it is not a URL'}. ` +
        'Give the address that stands before /v2, for example https://crm.example/api.',
    });
  }
  const prefix = url.pathname.replace(/\/+$/, '');
  return {
    origin: url.origin,
    host: url.host,
    pathOf: (list, cursor) =>
      `${prefix}/${descriptorOf(list).path}${cursor === null ? '' : `?cursor=${encodeURIComponent(cursor)}`}`,
  };
}

function faultOf(url: URL, text: string): string | undefined {
  if (url.protocol !== 'https:' && url.protocol !== 'http:')
    return `it starts with ${url.protocol} and not with https:`;
  if (url.username !== '' || url.password !== '')
    return 'it holds a user name or password (the token has its own option)';
  // The text, not the parsed URL: a bare "?" or "#" parses to an empty query and would still end the path.
  if (text.includes('?')) return 'it holds a query (?)';
  if (text.includes('#')) return 'it holds a fragment (#)';
  if (/\/v2\/*$/.test(url.pathname)) return 'it already ends in /v2';
  return undefined;
}

/**
 * The token as it goes into the header; white space around it (a secret file's last line break) is dropped.
 * @throws ChangefeedError CF_CONFIG_INVALID
 */
export function checkToken(token: string, workspace: string): string {
  const trimmed = token.trim();
  const fault =
    trimmed === ''
      ? 'is empty'
      : /^bearer\s/i.test(trimmed)
        ? 'starts with "Bearer"; give the token alone'
        : /[^\x21-\x7e]/.test(trimmed)
          ? 'holds a character that cannot stand in a header'
          : undefined;
  if (fault === undefined) return trimmed;
  throw new ChangefeedError('CF_CONFIG_INVALID', {
    workspace,
    message: `Workspace "${workspace}": the token ${fault}. Copy it again from the CRM's API settings.`,
  });
}
