/** Sessions of the login form, signed with the token of the role. None is stored; a new token ends them all. */
import { createHmac, timingSafeEqual } from 'node:crypto';

/** `read`: sees everything and changes nothing. `operate`: may act as well. */
export type Role = 'read' | 'operate';
/** The token of each role; undefined: no token gives the role. */
export type Tokens = Readonly<Partial<Record<Role, string | undefined>>>;

/** Before the port. */
export const SESSION_COOKIE = 'changefeed_session';
/** A working day. */
export const SESSION_MS = 12 * 3_600_000;

export function makeSession(role: Role, token: string, nowMs: number): string {
  const claim = `${role}.${nowMs + SESSION_MS}`;
  return `${claim}.${signatureOf(claim, token)}`;
}

/** Null for a session that is over, or that was signed with another token. */
export function readSession(session: string, tokens: Tokens, nowMs: number): Role | null {
  const [role = '', end = '', signature = ''] = session.split('.');
  if (role !== 'read' && role !== 'operate') return null;
  const token = tokens[role];
  if (token === undefined || !(Number(end) > nowMs)) return null;
  const [expected, given] = [Buffer.from(signatureOf(`${role}.${end}`, token)), Buffer.from(signature)];
  return expected.length === given.length && timingSafeEqual(expected, given) ? role : null;
}

function signatureOf(claim: string, token: string): string {
  return createHmac('sha256', token).update(`changefeed session ${claim}`).digest('base64url');
}
