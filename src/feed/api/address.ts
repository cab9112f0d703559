/** The address and token of the API, checked once at start: a wrong address looks like an outage later. */
import { descriptorOf, type ListRef } from '../../crm/lists/lists.js';
import { ChangefeedError, describe } from '../../kit/errors.js';
import { apiToken, A_TOKEN, baseUrlFault, normaliseBaseUrl } from '../../kit/schema/addresses.js';

export interface ApiAddress {
  readonly origin: string;
  /** Name and port, for messages. */
  readonly host: string;
  pathOf(list: ListRef, cursor: string | null): string;
}

/** @throws ChangefeedError CF_CONFIG_INVALID; the URL itself is not repeated, it may hold a secret */
export function parseBaseUrl(baseUrl: string, workspace: string): ApiAddress {
  const fault = baseUrlFault(baseUrl);
  if (fault !== undefined) {
    throw new ChangefeedError('CF_CONFIG_INVALID', {
      workspace,
      message: `Workspace "${workspace}": baseUrl cannot be used (${fault}). Give the part of the address before /v2, for example https://crm.example/api.`,
    });
  }
  const base = normaliseBaseUrl(baseUrl);
  const { origin, host } = new URL(base);
  const prefix = base.slice(origin.length);
  return {
    origin,
    host,
    pathOf: (list, cursor) =>
      `${prefix}/${descriptorOf(list).path}${cursor === null ? '' : `?cursor=${encodeURIComponent(cursor)}`}`,
  };
}

/** Checks a token and trims it (a secret file ends in a line break). @throws ChangefeedError CF_CONFIG_INVALID */
export function checkToken(token: string, workspace: string): string {
  const checked = apiToken.safeParse(token);
  if (checked.success) return checked.data;
  throw new ChangefeedError('CF_CONFIG_INVALID', {
    workspace,
    message: `Workspace "${workspace}": the token cannot be used (found ${describe(token)}). Give ${A_TOKEN}; copy it again from the CRM's API settings.`,
  });
}
