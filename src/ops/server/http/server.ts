/** The HTTP server of a process: it decides who may use a route. Sets of routes are handed in; it knows none. */
import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { messageOf } from '../../../kit/errors.js';
import { isAborted, sleepUntilAborted, type Clock } from '../../../kit/clock.js';
import type { Log } from '../../../kit/log.js';
import type { Audit } from '../../audit.js';
import {
  bearerOf,
  callerOf,
  isOfProxy,
  mayUse,
  whoIs,
  type Access,
  type AccessOptions,
  type Caller,
} from './access.js';
import { isCrossSite, isForwarded, isOwnHost, isSameSite, SECURITY_HEADERS } from './browser-safety.js';
import { createApp, listening, refuse, TOO_MANY, type Refusal } from './app.js';
import type { Door } from './door.js';
import { createAttempts, type Attempts } from './limits.js';
import { readBodyAgain } from './mounted.js';
import { signInRoutes } from './sign-in.js';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Who may use the route. @defaultValue 'read' */
    access?: Access;
    /** A caller of one workspace may ask it, and is answered with what is of that workspace only. @defaultValue false */
    ofWorkspace?: boolean;
    /** A token in the request stands for the header by which the page says that it is the page. @defaultValue false */
    forPrograms?: boolean;
    /** What the audit calls it. @defaultValue its method and path */
    action?: string;
  }
  interface FastifyRequest {
    /** Null on public routes for a caller who is not signed in. */
    caller: Caller | null;
    /** The audit has an entry of it, or need not have one. */
    isNoted: boolean;
  }
}

export type Routes = (app: FastifyInstance) => void | Promise<void>;

export interface HttpServerOptions {
  /** Each is registered in a scope of its own: its hooks and parsers concern its own routes only. */
  routes: readonly Routes[];
  access: AccessOptions;
  host: string;
  /** 0 takes any free port; undefined takes `usualPort`, or any free port where that is taken. */
  port: number | undefined;
  usualPort: number;
  /** The path within a server of the user; '' on a port of its own. @defaultValue '' */
  mountedAt?: string | undefined;
  /** Outlives the server. @defaultValue one of its own */
  door?: Door | undefined;
  audit: Pick<Audit, 'decided' | 'count' | 'flush'>;
  clock: Clock;
  log: Log;
}

export type HttpServer = ReturnType<typeof createHttpServer>;

/** Tests send requests to the app without a socket. */
export function createHttpServer(options: HttpServerOptions) {
  const { host, port, usualPort, door, access } = options;
  const app = buildApp(options);
  // Another process of this machine may have the usual port.
  const place = { host, port: port ?? usualPort, orAnyPort: port === undefined };
  if (door === undefined) return { app, ...listening(app, place) };
  const start = (): Promise<string> => door.lead(app, place, (address) => isOfProxy(address, access));
  return { app, start, stop: () => door.leave(app) };
}

function buildApp({ routes, access, mountedAt = '', audit, clock, log }: HttpServerOptions): FastifyInstance {
  const app = createApp({ bodyLimit: 65_536, isProxy: (address) => isOfProxy(address, access) });
  readBodyAgain(app);
  const attempts = createAttempts(clock);
  app.decorateRequest('caller', null);
  app.decorateRequest('isNoted', false);
  app.addHook('onRequest', (request, reply, done) => {
    void reply.headers(SECURITY_HEADERS);
    const refused = refusalOf(request, { access, attempts, nowMs: clock.now() });
    if (refused !== null) return void refuse(reply, refused);
    if (isInvited(request.caller)) void endWhenRevoked(request, reply, { access, clock });
    done();
  });
  app.addHook('onResponse', async (request, { statusCode }) => await noteIn(audit, request, statusCode));
  app.addHook('onClose', () => audit.flush());
  app.setErrorHandler((error: FastifyError, request, reply) => {
    const status = error.statusCode ?? 500;
    if (status >= 500) log.error({ route: request.routeOptions.url, error: messageOf(error) }, 'request failed');
    const message = status >= 500 ? 'The request failed; the log says why.' : error.message;
    return refuse(reply, { status, message });
  });
  app.setNotFoundHandler({}, (_request, reply) => refuse(reply, { status: 404, message: 'There is no such address.' }));
  signInRoutes(app, { access, attempts, audit, clock, mountedAt });
  for (const one of routes) {
    app.register(async (scope) => {
      await one(scope);
    });
  }
  return app;
}

const isInvited = (caller: Caller | null): boolean =>
  caller !== null && caller.name !== null && caller.role !== 'consume' && caller.how !== 'proxy';

const REVOKED_CHECK_MS = 2_000;

/** A stream would go on for as long as its connection. */
async function endWhenRevoked(
  { headers, socket }: FastifyRequest,
  { raw }: FastifyReply,
  { access, clock }: { access: AccessOptions; clock: Clock },
): Promise<void> {
  const closed = new AbortController();
  raw.once('close', () => closed.abort());
  for (;;) {
    await sleepUntilAborted(clock, REVOKED_CHECK_MS, closed.signal);
    if (isAborted(closed.signal)) return;
    const { remoteAddress } = socket;
    if (callerOf({ headers, remoteAddress, nowMs: clock.now() }, access) === null) return void raw.destroy();
  }
}

function isAction({ method, routeOptions }: FastifyRequest): boolean {
  return routeOptions.config.access === 'operate' && !['GET', 'HEAD'].includes(method);
}

const NOT_ALLOWED: readonly number[] = [401, 403, 421, 429];

/** What was refused, and what is done by pages of others. An action notes what it has done itself. */
async function noteIn(audit: HttpServerOptions['audit'], request: FastifyRequest, status: number): Promise<void> {
  const { method, routeOptions, headers, isNoted } = request;
  const { url = 'an unknown address', config } = routeOptions;
  const { action: what = `${method} ${url}` } = config;
  const isRefused = NOT_ALLOWED.includes(status);
  if (isNoted || (!isAction(request) && !(isRefused && headers.authorization !== undefined))) return;
  if (status >= 400) audit.count({ ...whoIs(request), what, outcome: isRefused ? 'refused' : 'failed' });
  else if (config.access === 'operate') await audit.decided({ ...whoIs(request), what });
}

const ONLY_LOCALHOST: Refusal = {
  status: 421,
  message: 'Without http.tokens the page answers only to localhost. Configure http.tokens for other names.',
};
const NO_PROXY: Refusal = {
  status: 421,
  message:
    'This request came through a proxy (x-forwarded-…, forwarded, via, or HTTP/1.0). Without http.tokens the page is for this machine only. Configure http.tokens or http.trustedProxy.',
};
const WRONG_HOST: Refusal = {
  status: 421,
  message: 'The page is not known by the name in "host". Name it in http.trustedProxy.hosts.',
};

/** Routes whose answers cost work, however spelt. A page may be the target of a link on another site. */
const WORKING = /^\/(api|mcp|events|metrics|queues\/api)\b/;

interface Judging {
  access: AccessOptions;
  attempts: Attempts;
  nowMs: number;
}

function refusalOf(request: FastifyRequest, { access, attempts, nowMs }: Judging): Refusal | null {
  const { headers, method, raw, routeOptions, socket } = request;
  const { access: needed = 'read', forPrograms = false, ofWorkspace = false } = routeOptions.config;
  if (access.localOnly === true) {
    if (!isOwnHost(headers.host)) return ONLY_LOCALHOST;
    // No browser or client of today sends HTTP/1.0; nginx does, without a header that says so.
    if (isForwarded(headers) || raw.httpVersion === '1.0') return NO_PROXY;
  }
  if (isCrossSite(headers) && WORKING.test(routeOptions.url ?? request.url))
    return {
      status: 403,
      message: 'Another site may not ask this. Open the status page, or send the request from a program.',
    };
  const { remoteAddress = '' } = socket;
  request.caller = callerOf({ headers, remoteAddress, nowMs }, access);
  // A program needs no such header with a token of its own, and is asked for one without.
  const isProgram = forPrograms && (request.caller === null || bearerOf(headers.authorization) !== null);
  if (!['GET', 'HEAD'].includes(method) && !isSameSite(headers, isProgram))
    return { status: 403, message: 'An action needs the header "x-changefeed-action" and must come from this page.' };
  if (mayUse(needed, request.caller, { params: request.params, ofWorkspace })) return null;
  if (request.caller?.workspace !== undefined)
    return { status: 403, message: `Your token is for the workspace "${request.caller.workspace}" only.` };
  if (request.caller !== null) return { status: 403, message: neededText(needed, request.caller) };
  if (
    headers.authorization === undefined &&
    access.trustedProxy !== undefined &&
    !isOwnHost(headers.host, access.trustedProxy.hosts)
  )
    return WRONG_HOST;
  // Only wrong credentials count: a page whose session is over asks without any.
  if (headers.authorization !== undefined && attempts.wrong(remoteAddress) === 'too many') return TOO_MANY;
  return { status: 401, message: 'Sign in, or send a token: "authorization: Bearer …".' };
}

function neededText(needed: Access, { role, name }: Caller): string {
  if (role === 'consume')
    return `This token is for asking for the events of the consumer "${name ?? ''}", and for nothing else.`;
  if (needed === 'consume')
    return 'This needs the token of the consumer, or of an operator: "authorization: Bearer …".';
  return 'This needs the role of an operator.';
}
