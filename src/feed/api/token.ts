/**
 * The token of a workspace: a text, or what a function of the configuration answers. The function is asked at the first request and after a refusal,
 * one question at a time, so that a workspace whose token is refused asks neither its vault nor the API all the time.
 */
import { systemClock, withinTime, type Clock } from '../../kit/clock.js';
import { ChangefeedError, describe } from '../../kit/errors.js';
import { apiToken, A_TOKEN } from '../../kit/schema/addresses.js';
import { classOf, codeOfThrown } from '../../kit/thrown.js';
import { placeIn } from '../../kit/user-frame.js';
import { checkToken } from './address.js';
import { createRedactor, type Redact } from './redact.js';
import type { Authorised, FetchPage } from './request.js';

/** The API token, or a function that gives it: it is asked at the first request, and again after the API refused what it gave. */
export type Token = string | (() => string | Promise<string>);

export interface TokenSource {
  /** Hides every token that this process has had. */
  readonly redact: Redact;
  /** What to do after a 401. */
  readonly advice: string | undefined;
  /** @throws ChangefeedError CF_UNAUTHORISED when the function gives none */
  current(signal: AbortSignal | undefined): Promise<string>;
  /** Another token than the refused one; null: there is none now. @throws ChangefeedError CF_UNAUTHORISED */
  after(refused: string, signal: AbortSignal | undefined): Promise<string | null>;
}

/** Between two questions: after a refusal, the same token would come again and again. */
const REST_MS = 10_000;
const ANSWER_WITHIN_MS = 30_000;
/** Tokens that are hidden. One that was replaced so often before is in no answer any more. */
const MOST_HIDDEN = 100;

const ASKED_AGAIN =
  'The function "token" of the workspace must give the newest token; it is asked again with the next tries, every 10 s at most. ' +
  'What is stored is kept, and the sweep goes on where it stopped.';

/** @throws ChangefeedError CF_CONFIG_INVALID when a text cannot be used */
export function createTokenSource(given: Token, of: { workspace: string; clock: Clock }): TokenSource {
  return typeof given === 'string' ? fixedToken(checkToken(given, of.workspace)) : askedToken(given, of);
}

/** Gives each try its token. After a 401, a try with a new token follows at once: for the caller, the refusal did not happen. */
export function withToken(oneTry: FetchPage<Authorised>, tokens: TokenSource): FetchPage {
  return async (request) => {
    const token = await tokens.current(request.signal);
    try {
      return await oneTry({ ...request, token });
    } catch (error) {
      if (!(error instanceof ChangefeedError) || error.code !== 'CF_UNAUTHORISED') throw error;
      const next = await tokens.after(token, request.signal);
      if (next === null) throw error;
      return await oneTry({ ...request, token: next });
    }
  };
}

function fixedToken(token: string): TokenSource {
  return {
    redact: createRedactor(token),
    advice: undefined,
    current: () => Promise.resolve(token),
    after: () => Promise.resolve(null),
  };
}

function askedToken(
  ask: Exclude<Token, string>,
  { workspace, clock }: { workspace: string; clock: Clock },
): TokenSource {
  let hidden: readonly string[] = [];
  let redact = createRedactor();
  let token: string | null = null;
  let refused: string | null = null;
  let failure: ChangefeedError | null = null;
  let askedMs = Number.NEGATIVE_INFINITY;
  let asking: Promise<void> | null = null;

  const question = async (): Promise<void> => {
    askedMs = clock.monotonic();
    const answer = await answerOf(ask, workspace);
    failure = answer instanceof ChangefeedError ? answer : null;
    if (answer instanceof ChangefeedError) return;
    token = answer;
    hidden = [answer, ...hidden.filter((one) => one !== answer)].slice(0, MOST_HIDDEN);
    redact = createRedactor(...hidden);
  };
  const askUnlessJustAsked = async (signal: AbortSignal | undefined): Promise<void> => {
    if (asking === null && clock.monotonic() - askedMs < REST_MS) return;
    asking ??= question().finally(() => (asking = null));
    await withinTime(asking, 2 * ANSWER_WITHIN_MS, signal && { signal });
    signal?.throwIfAborted();
  };
  const given = (): string => {
    if (failure !== null) throw failure;
    if (token === null) throw tokenFailure(workspace, 'has not answered yet');
    return token;
  };
  return {
    redact: (text) => redact(text),
    advice: ASKED_AGAIN,
    async current(signal) {
      if (token === null || failure !== null || token === refused) await askUnlessJustAsked(signal);
      return given();
    },
    async after(used, signal) {
      if (token === used) {
        refused = used;
        await askUnlessJustAsked(signal);
      }
      const next = given();
      return next === used ? null : next;
    },
  };
}

/** The words of what is thrown are left out: they may have the token in them. */
async function answerOf(ask: Exclude<Token, string>, workspace: string): Promise<string | ChangefeedError> {
  try {
    // In real time: what it waits for is not stopped with the clock of a test.
    const answer: unknown = await withinTime(
      Promise.resolve()
        .then(ask)
        .then((text) => [text]),
      ANSWER_WITHIN_MS,
      { clock: systemClock },
    );
    if (!Array.isArray(answer)) return tokenFailure(workspace, `did not answer within ${ANSWER_WITHIN_MS / 1_000} s`);
    const checked = apiToken.safeParse(answer[0]);
    return checked.success ? checked.data : tokenFailure(workspace, `gave ${describe(answer[0])}; allowed: ${A_TOKEN}`);
  } catch (thrown) {
    const place = thrown instanceof Error ? placeIn(thrown.stack ?? '') : undefined;
    const code = codeOfThrown(thrown);
    const what = `threw ${classOf(thrown)}${code === '' ? '' : ` (${code})`}${place === undefined ? '' : ` at ${place}`}`;
    return tokenFailure(workspace, what);
  }
}

function tokenFailure(workspace: string, said: string): ChangefeedError {
  const what = `the function "token" ${said}`;
  return new ChangefeedError('CF_UNAUTHORISED', {
    ...{ workspace, what, status: null },
    message: `Workspace "${workspace}": ${what}. No request was sent. Correct the function, or what it asks; it is asked again with the next tries, every 10 s at most.`,
  });
}
