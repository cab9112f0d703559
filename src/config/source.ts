/** Where the records of a workspace come from: an address and a token, or a function of the configuration. */
import { z } from 'zod';
import type { FetchPageFunction } from '../feed/api/fetch-page.js';
import type { Token } from '../feed/api/token.js';
import { A_BASE_URL, apiToken, A_TOKEN } from '../kit/schema/addresses.js';

const TOKEN = `${A_TOKEN}; in code also a function that gives it`;
export const token = z.union([apiToken, z.custom<Exclude<Token, string>>((given) => typeof given === 'function')], {
  error: TOKEN,
});

export const fetchPage = z.custom<FetchPageFunction>((given) => typeof given === 'function', {
  error: 'in code, a function ({ list, cursor }) => ({ rows, next })',
});

/** Our own requests need an address and a token. Said also where another option is wrong: a person corrects all problems at once. */
export const withSource = z.check<{ fetchPage?: unknown }>(({ value, issues }) => {
  const given: Readonly<Record<string, unknown>> = value;
  if (given['fetchPage'] !== undefined) return;
  for (const [option, message] of Object.entries({ baseUrl: A_BASE_URL, token: TOKEN }))
    if (given[option] === undefined) issues.push({ code: 'custom', input: value, path: [option], message });
});
withSource._zod.def.when = ({ value }) => typeof value === 'object' && value !== null;
