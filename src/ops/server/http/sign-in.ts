/** The login form of the page: a token becomes a session, in a cookie that no script can read. */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Clock } from '../../../kit/clock.js';
import type { Audit } from '../../audit.js';
import { callerOfToken, sessionNameOf, sessionsIn, signerOf, whoIs, type AccessOptions } from './access.js';
import type { Attempts } from './limits.js';
import { refuse, TOO_MANY } from './app.js';
import { makeSession, PERSON_SESSION_MS, SESSION_COOKIE, SESSION_MS } from './session.js';

export interface SignInDeps {
  access: AccessOptions;
  attempts: Attempts;
  audit: Pick<Audit, 'count'>;
  clock: Clock;
  mountedAt: string;
}

export function signInRoutes(app: FastifyInstance, deps: SignInDeps): void {
  const { access, attempts, audit, clock, mountedAt } = deps;
  // Only under our path: a server of the user gets no session of ours with the requests for its own pages.
  const path = mountedAt === '' ? '/' : mountedAt;
  app.post('/api/session', { config: { access: 'public' } }, (request, reply) => {
    const { token } = (request.body ?? {}) as { token?: unknown };
    const caller = typeof token === 'string' ? callerOfToken(token.trim(), access) : null;
    const outcome = caller === null ? 'refused' : 'done';
    audit.count({ ...whoIs({ caller, socket: request.socket }), how: 'token', what: 'sign in', outcome });
    request.isNoted = true;
    if (caller === null) {
      if (attempts.wrong(request.socket.remoteAddress ?? '') === 'too many') return refuse(reply, TOO_MANY);
      return refuse(reply, { status: 401, message: NO_TOKEN });
    }
    const ageMs = caller.name === null ? SESSION_MS : PERSON_SESSION_MS;
    const who = sessionNameOf(caller);
    const value = makeSession(who, signerOf(who, access)?.key ?? '', clock.now() + ageMs);
    return withCookies(request, reply, { names: [nameFor(request)], value, ageMs, path }).send({
      caller: { ...caller, how: 'session' },
    });
  });
  app.delete('/api/session', { config: { access: 'public' } }, (request, reply) => {
    const ours = sessionsIn({ headers: request.headers, nowMs: clock.now() }, access).map(({ name }) => name);
    const names = [...new Set([nameFor(request), ...ours])];
    return withCookies(request, reply, { names, value: '', ageMs: 0, path }).send({ caller: null });
  });
}

const NO_TOKEN =
  'This is not a token of this page: those are in http.tokens, in the link that "changefeed start" prints, or in that of an invitation, which ends.';

/** Cookies have no port: another page on this host name would overwrite one of the same name. */
function nameFor({ socket }: FastifyRequest): string {
  return `${SESSION_COOKIE}_${socket.localPort ?? ''}`;
}

function withCookies(
  request: FastifyRequest,
  reply: FastifyReply,
  { names, value, ageMs, path }: { names: readonly string[]; value: string; ageMs: number; path: string },
): FastifyReply {
  // Only the sender of this header is concerned by it: it says whether their connection is encrypted.
  const secure = request.headers['x-forwarded-proto'] === 'https' ? '; Secure' : '';
  const about = `Path=${path}; HttpOnly; SameSite=Strict; Max-Age=${ageMs / 1_000}${secure}`;
  const cookies = names.map((name) => `${name}=${value}; ${about}`);
  return reply.header('set-cookie', cookies).header('cache-control', 'no-store');
}
