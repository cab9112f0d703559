/** Sessions of the login form, signed with what their token is known by. None is stored; another token, or a revoked one, ends them. */
import { createHmac, timingSafeEqual } from 'node:crypto';

/** `read`: sees everything and changes nothing. `operate`: may act as well. */
export type Role = 'read' | 'operate';
/** The token of each role; undefined: no token gives the role. */
export type Tokens = Readonly<Partial<Record<Role, string | undefined>>>;

/** Before the port. */
export const SESSION_COOKIE = 'changefeed_session';
/** A working day: the token of a role is known to several people, and is seldom another one. */
export const SESSION_MS = 12 * 3_600_000;
/** One person's session ends in seconds when their token is revoked. */
export const PERSON_SESSION_MS = 30 * 86_400_000;

/** @param who has signed in: a text that may stand in a cookie, without dots */
export function makeSession(who: string, key: string, endMs: number): string {
  const claim = `${who}.${endMs}`;
  return `${claim}.${signatureOf(claim, key)}`;
}

/** Null for a session that is over, or that was signed with another key. @param keyOf undefined: there is no such one */
export function readSession(session: string, keyOf: (who: string) => string | undefined, nowMs: number): string | null {
  const [who = '', end = '', signature = ''] = session.split('.');
  const key = keyOf(who);
  if (key === undefined || !(Number(end) > nowMs)) return null;
  const [expected, given] = [Buffer.from(signatureOf(`${who}.${end}`, key)), Buffer.from(signature)];
  return expected.length === given.length && timingSafeEqual(expected, given) ? who : null;
}

function signatureOf(claim: string, key: string): string {
  return createHmac('sha256', key).update(`changefeed session ${claim}`).digest('base64url');
}
