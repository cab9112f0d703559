/** `pull`: nothing is sent. A consumer asks for the events of the log, and says which it has. */
import { z } from 'zod';
import { duration } from '../../../kit/schema/fields.js';
import { ourToken } from '../../../kit/schema/our-token.js';
import { isSameToken } from '../../../kit/same-token.js';
import type { Pulled } from '../handler.js';
import { defineKind, kindOptions } from '../kind.js';
import { subscriptionShape } from '../options.js';

const LEFT_OUT = 'leaving it out: a consumer asks for its events itself, in the order of the log, and has no queue';
/** It is there so that the refusal says why. */
const leftOut = z.never({ error: LEFT_OUT }).optional();

/** What the shared options are of a consumer. */
const ownShape = {
  ...{ order: leftOut, concurrency: leftOut, retry: leftOut, whenDead: leftOut, timeout: leftOut, settle: leftOut },
  ...{ afterRewind: leftOut, digest: leftOut, language: leftOut },
  start: subscriptionShape.start.refine((start) => start !== 'snapshot', {
    error: "'now', 'beginning', a time, a log id or { after }: a consumer reads the log, and a snapshot is not in it",
  }),
};

const pullOptions = kindOptions({
  ...ownShape,
  /** What was handed out and not acknowledged for so long is handed out again. @defaultValue '60s' */
  visibility: duration({ from: '1s', to: '12h' }).prefault('60s'),
  /**
   * With this token one may ask for the events of this consumer and acknowledge them, and do nothing else. 16 or more characters; each consumer has
   * another one. @defaultValue only the token of an operator (`http.tokens.operate`)
   */
  token: ourToken('a token of 16 or more characters without spaces').optional(),
});

export const pullSchema = pullOptions.transform((given) => ({
  ...given,
  ...({ order: 'record', concurrency: 1, whenDead: 'release', timeout: given.visibility } as const),
  ...{ retry: undefined, settle: undefined, afterRewind: undefined, language: undefined },
}));

/** Options of `pull`. */
export type PullOptions = z.input<typeof pullSchema>;

/**
 * A subscription whose events a named consumer asks for (`GET /api/consumers/{name}/next`), in the order of the log, and acknowledges. Nothing is sent
 * to an address. What is not acknowledged within `visibility` comes again.
 * @throws ChangefeedError `CF_CONFIG_INVALID`
 */
export const pull = defineKind({
  name: 'pull',
  words: { en: 'asks for its events', ko: '직접 가져감' },
  options: pullSchema,
  open: ({ visibility, token }) => ({ deliver: () => undefined, pull: pulledBy(visibility, token) }),
});

/** The token is in no property: what a subscription consists of is kept in Redis. */
function pulledBy(visibilityMs: number, token: string | undefined): Pulled {
  const isToken = (given: string): boolean => token !== undefined && isSameToken(given, token);
  return { visibilityMs, isToken, sharesToken: (other) => token !== undefined && other.isToken(token) };
}
