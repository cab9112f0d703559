/** Turns failed answers into typed errors: what the API answered, on which page, and what to do. Pure. */
import { ChangefeedError, type ErrorCode } from '../../kit/errors.js';
import { builtInLists, nameOf, type ListName, type ListRef } from '../../crm/lists/lists.js';
import type { Redact } from './redact.js';
import { hintMs } from './wait.js';
import { jsonOf, statementsOf, wordsOf } from './words.js';

/** One answer, read to its end. */
export interface Answer {
  readonly status: number;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  /** UTF-8, decoded; of a failed answer, whatever it is. */
  readonly body: Buffer;
  /** Size of the body in bytes, decoded. */
  readonly bytes: number;
  /** Digest of the body's bytes. */
  readonly digest?: string | undefined;
  /** When the request was sent; ms. */
  readonly askedAt: number;
  /** Time from the request to the end of the body. */
  readonly ms: number;
}

export function headerOf({ headers }: { headers: Answer['headers'] }, name: string): string | undefined {
  const value = headers[name];
  return Array.isArray(value) ? value[0] : value;
}

export interface Asked {
  readonly workspace: string;
  readonly host: string;
  readonly list: ListRef;
  readonly page: number;
  /** Ms since the epoch; needed when `Retry-After` is a date. */
  readonly now: number;
  readonly redact: Redact;
  /** What to do, where it is not the usual advice. */
  readonly advice?: Partial<Record<ErrorCode, string>>;
}

export function statusFailure(answer: Answer, asked: Asked): ChangefeedError {
  const code = codeOf(answer.status);
  const advice = [403, 404].includes(answer.status) ? adviceAbout(nameOf(asked.list)) : '';
  return failure(code, asked, {
    answer,
    what: whatOf(answer, asked),
    advice: `${asked.advice?.[code] ?? ADVICE[code] ?? ''}${advice}`,
  });
}

/** The error of a 2xx answer that says `success: false`. */
export function refusal(answer: Answer, asked: Asked): ChangefeedError {
  const what = `the API at ${asked.host} answered ${answer.status} with "success": false`;
  return failure('CF_REQUEST_REFUSED', asked, { answer, what });
}

/** The error of a 2xx answer that does not have the form the interface describes. */
export function malformed(
  answer: Answer,
  asked: Asked,
  what: string,
  advice = asked.advice?.CF_PAGE_MALFORMED ?? '',
): ChangefeedError {
  return failure('CF_PAGE_MALFORMED', asked, { answer, what, advice: `${NOTHING_WRITTEN} ${advice}`.trim() });
}

export function smallerPages(list: ListRef): string {
  return `The server decides how many records a page holds: ask its operator for smaller pages, or set lists.${nameOf(list)}.enabled to false until then.`;
}

/** The error of a try without an answer, or with an incomplete one. */
export function noAnswer(asked: Asked, failed: Pick<FailedAnswer, 'status' | 'what' | 'cause'>): ChangefeedError {
  return failure('CF_UNAVAILABLE', asked, failed);
}

export function unreadable(
  asked: Asked,
  { advice = asked.advice?.CF_PAGE_MALFORMED ?? '', ...failed }: Omit<FailedAnswer, 'answer'>,
): ChangefeedError {
  return failure('CF_PAGE_MALFORMED', asked, { ...failed, advice: `${NOTHING_WRITTEN} ${advice}`.trim() });
}

const NOTHING_WRITTEN = 'Nothing of it was written; a later try asks for it again.';

const ADVICE: Partial<Record<ErrorCode, string>> = {
  CF_UNAUTHORISED:
    'Issuing a new token in the CRM kills the old one: put the newest token into the configuration. ' +
    'What is stored is kept, and the sweep goes on where it stopped.',
  CF_FORBIDDEN:
    "Check the token owner's permissions, the plan, and whether the workspace allows the address this process calls from.",
  CF_RATE_LIMITED: 'The quota is shared with every other integration of the workspace: lower the budget, or theirs.',
  CF_UNAVAILABLE: NOTHING_WRITTEN,
  CF_REQUEST_REFUSED: 'Check baseUrl; a cursor that the API no longer knows is answered in this way too.',
};

/** Every workspace has the built-in lists; another one may not exist there, or be forbidden. */
function adviceAbout(list: ListName): string {
  return builtInLists.byName(list) === undefined
    ? ` If the workspace does not have this list, set lists.${list} to false.`
    : '';
}

function codeOf(status: number): ErrorCode {
  if (status === 401) return 'CF_UNAUTHORISED';
  if (status === 403) return 'CF_FORBIDDEN';
  if (status === 429) return 'CF_RATE_LIMITED';
  return status >= 500 ? 'CF_UNAVAILABLE' : 'CF_REQUEST_REFUSED';
}

function whatOf(answer: Answer, { host }: Asked): string {
  const { status } = answer;
  const location = headerOf(answer, 'location');
  if (status < 300 || status > 399) return `the API at ${host} answered ${status}`;
  return `the API at ${host} answered ${status} and pointed to ${hostOf(location, host)}; redirects are not followed`;
}

// Only the host: the rest of a redirect's address may contain a session or the token.
function hostOf(location: string | undefined, host: string): string {
  const base = `https://${host}`;
  return location !== undefined && URL.canParse(location, base) ? new URL(location, base).host : 'nowhere';
}

interface FailedAnswer {
  /** The failure in words: the part of the message after `Workspace "acme", list "people", page 4: `. */
  what: string;
  /** @defaultValue that nothing was written */
  advice?: string | undefined;
  /** Read to its end. @defaultValue there is none */
  answer?: Answer;
  /** @defaultValue that of the answer */
  status?: number | null;
  /** @defaultValue what the answer asks for */
  retryAfterMs?: number | null;
  /** Words that may quote a record. */
  said?: string;
  cause?: unknown;
}

export function failure(
  code: ErrorCode,
  { workspace, list, page, redact, now, advice: own }: Asked,
  { what, advice, answer, status = answer?.status ?? null, cause, ...of }: FailedAnswer,
): ChangefeedError {
  const words = answer === undefined ? '' : wordsOf(answer.body.toString(), redact);
  const said = words === '' ? what : `${what} ("${words}")`;
  return new ChangefeedError(code, {
    workspace,
    list: nameOf(list),
    page,
    // The failure with the address, and the words of the API.
    what: said,
    status,
    // Shortened and redacted.
    words,
    // Null when the server did not ask for a wait.
    retryAfterMs: answer
      ? hintMs(headerOf(answer, 'retry-after'), statementsOf(jsonOf(answer.body.toString())), now)
      : (of.retryAfterMs ?? null),
    cause,
    said: of.said ?? '',
    message: `Workspace "${workspace}", list "${nameOf(list)}", page ${page}: ${said}. ${advice ?? own?.[code] ?? NOTHING_WRITTEN}`,
  });
}
