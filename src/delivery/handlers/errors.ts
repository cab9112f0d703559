/** What a handler throws. Never recognised by `instanceof`: a configuration may load its own copy of the package. */
import { messageOf, type ChangefeedError } from '../../kit/errors.js';
import { classOf, isPermanent, nameOf, retryAfterMsOf } from '../../kit/thrown.js';

export { classOf, isPermanent, PermanentError, RetryAfterError, retryAfterMsOf } from '../../kit/thrown.js';

/**
 * Throw it when nothing can be delivered to this subscription any more. The subscription is paused in all processes until it is
 * resumed (`changefeed resume`, `feed.resume`). The event does not become a dead letter and the attempt does not count: it is
 * the first of its record to be handled afterwards. The error's message is shown as the reason, so it must not quote the record.
 */
export class DisableSubscriptionError extends Error {
  override readonly name = 'DisableSubscriptionError';
}

export function isDisabling(error: unknown): boolean {
  return nameOf(error) === 'DisableSubscriptionError';
}

export interface ErrorParts {
  /** Only what Changefeed knows, for the log and the status. */
  known: string;
  /** It may quote a record, so it is only in the dead letter and in the log at level `debug`. */
  whole: string;
}

export function partsOf(thrown: unknown): ErrorParts {
  // An error of another realm, or of another copy of this package, is no instance of a class here.
  const { message: own, cause, code, status, statusCode } = Object(thrown) as Record<string, unknown>;
  const ours = [thrown, cause].find(isOurs);
  const message = typeof own === 'string' && own !== '' ? own : messageOf(thrown);
  const said = ours?.said ?? '';
  const whole = said === '' ? message : `${message}${SAID}${said}`;
  if (ours !== undefined)
    return { known: said === '' ? ours.message : `${ours.message} It said ${charactersOf(said)}.`, whole };
  // Its message is meant to be shown: see above.
  if (isDisabling(thrown)) return { known: message, whole };
  const about = [classOf(thrown), ...[code, status, statusCode].filter(isCode)].join(' ');
  return { known: `${about} with a message of ${charactersOf(message)}`, whole };
}

const SAID = ' It said: ';

/** What the receiver said, of the whole text of an error; where it said nothing, that text. */
export function saidIn(whole: string): string {
  const at = whole.indexOf(SAID);
  return at < 0 ? whole : whole.slice(at + SAID.length);
}

/** The status of HTTP with which an attempt was refused; undefined: none is known. */
export function statusOf(thrown: unknown): number | undefined {
  const { cause, status, statusCode } = Object(thrown) as Record<string, unknown>;
  const { facts } = [thrown, cause].find(isOurs) ?? {};
  return [facts?.['status'], status, statusCode].find(isStatus);
}

export function isStatus(value: unknown): value is number {
  return typeof value === 'number' && Number.isInteger(value) && value >= 100 && value < 600;
}

function charactersOf({ length }: string): string {
  return `${length} characters (shown with LOG_LEVEL=debug)`;
}

/** `ECONNREFUSED`, a SQLSTATE, or a status of HTTP. */
function isCode(value: unknown): value is string | number {
  if (isStatus(value)) return true;
  return typeof value === 'string' && /^[A-Z0-9_]{3,40}$/.test(value);
}

/** It says itself what follows, or it is explained already. */
export function isSteering(error: unknown): boolean {
  return isOurs(error) || isPermanent(error) || isDisabling(error) || retryAfterMsOf(error) !== undefined;
}

function isOurs(error: unknown): error is ChangefeedError {
  return nameOf(error) === 'ChangefeedError';
}
