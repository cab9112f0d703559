/** The HTTP server of this process: whatever it serves is a set of routes in the list below. */
import type { RequestListener } from 'node:http';
import type { Dispatcher } from '../delivery/dispatcher.js';
import { openQueues, type Queues } from '../delivery/queues.js';
import { ChangefeedError, messageOf, usage } from '../kit/errors.js';
import { runLoop } from '../kit/loop.js';
import { packageVersion } from '../kit/package-files.js';
import type { AccessOptions } from '../ops/server/http/access.js';
import type { Progress } from '../../workers/all.js';
import type { Prometheus } from '../ops/watch/prometheus.js';
import { monitoringRoutes } from '../ops/server/monitoring/routes.js';
import { handedOver } from '../ops/server/http/mounted.js';
import type { Door } from '../ops/server/http/door.js';
import type { Click } from '../ops/server/slack/slack-actions.js';
import type { HttpServer } from '../ops/server/http/server.js';
import type { Changefeed } from '../actions/feed.js';
import { addAssistant } from '../actions/assistant.js';
import { worldOf, type World } from '../actions/carry-out.js';
import { actOnClick } from '../actions/clicks.js';
import { addActions } from '../actions/routes.js';
import type { Audit } from '../ops/audit.js';
import type { Invites } from '../ops/invites.js';
import type { AppContext } from '../../workers/context.js';
import { pageRules } from './rules.js';
import type { Refused, RunningRules } from './running-rules.js';
import { monitored } from './monitoring.js';
import { pageSource } from './page-source.js';
import { pageToken, type PageToken } from './page-token.js';
import type { ObservedStatus } from './status.js';
import type { Workspaces } from '../../workers/workspaces.js';

/** Next to the port of the mirror. */
export const USUAL_PORT = 4021;

export interface HttpDeps {
  workspaces: Workspaces;
  feed: Changefeed;
  audit: Audit;
  invites: Invites;
  dispatcher: Dispatcher;
  rules: RunningRules;
  prometheus: Prometheus;
  status: ObservedStatus;
  progress: () => Progress;
  stateDir: string;
  /** The listener of a process that opens another Changefeed after this one. */
  door?: Door | undefined;
  /** Under which path of a server of the user; else on a port of its own. */
  place: boolean | string;
  /** Why the configuration as it is now does not run; null where it does. */
  refusedConfig?: (() => Refused | null) | undefined;
}

export function httpPart(context: AppContext, deps: HttpDeps) {
  const { http } = context.config;
  const { read, operate } = http.tokens;
  const isOpen = read === undefined && operate === undefined && http.trustedProxy === undefined;
  const mountedAt = typeof deps.place === 'string' ? deps.place.replace(/\/+$/, '') : null;
  if (mountedAt !== null && isOpen) throw notMountable(mountedAt);
  let made: PageToken | null = null;
  let queues: Queues | undefined;
  const opened = (): Queues => (queues ??= openQueues({ ...context, logger: context.log }));
  let server: HttpServer | undefined;
  let url: string | null = null;
  let handOver = unavailable('Changefeed does not run yet.');
  const stopping = new AbortController();
  let following: Promise<void> | undefined;
  return {
    name: 'http',
    async start(): Promise<void> {
      if (isOpen) made ??= pageToken(deps.stateDir, context.log);
      const { trustedProxy, tokens } = http;
      const consumerOf = (token: string): string | null =>
        context.subscriptions.find(({ pull }) => pull?.isToken(token) === true)?.name ?? null;
      const people = { invited: deps.invites.known, consumerOf };
      const access =
        made === null
          ? { ...people, tokens, trustedProxy }
          : { ...people, tokens: { operate: made.token }, localOnly: true };
      server ??= await serverOf(context, { ...deps, mountedAt, opened, access, stopping: stopping.signal });
      following ??= followInvites(context, deps.invites, stopping.signal);
      if (mountedAt !== null) {
        await server.app.ready();
        handOver = handedOver(server.app, mountedAt);
        return;
      }
      url = await server.start().catch((error: unknown) => {
        throw cannotListen(http, error);
      });
      context.log.info({ url, ...(made && { tokenFile: made.file }) }, 'the status page is served');
    },
    async stop(): Promise<void> {
      handOver = unavailable('Changefeed was stopped.');
      stopping.abort();
      await Promise.all([server?.stop(), following]);
      await queues?.close();
    },
    url: () => url,
    handle: ((request, response) => handOver(request, response)) satisfies RequestListener,
    /** Signs in; null where the configuration has the credentials. */
    link: () => (url === null || made === null ? null : `${url}/#t=${made.token}`),
  };
}

/** Another process may have invited or revoked someone. */
const INVITES_MS = 1_000;

async function followInvites({ watch, clock, log }: AppContext, invites: Invites, signal: AbortSignal): Promise<void> {
  const run = async (): Promise<number> => {
    await invites.read();
    return INVITES_MS;
  };
  await runLoop({ name: 'invitations', run, ready: (until) => watch.untilUsable(until), signal, clock, log });
}

function unavailable(why: string): RequestListener {
  return (_request, response) => void response.writeHead(503).end(why);
}

/** Fastify is loaded here, so that a process which serves nothing does not load it. */
async function serverOf(
  context: AppContext,
  deps: HttpDeps & { mountedAt: string | null; opened: () => Queues; access: AccessOptions; stopping: AbortSignal },
): Promise<HttpServer> {
  const { mountedAt, workspaces, feed, audit, dispatcher, opened, access, door, stopping } = deps;
  const rules = pageRules(context, workspaces, { ...deps, running: deps.rules });
  const [{ createHttpServer }, { pageRoutes }, { slackRoutes }] = await Promise.all([
    import('../ops/server/http/server.js'),
    import('../ops/server/page/routes.js'),
    import('../ops/server/slack/slack-actions.js'),
  ]);
  const { config, watch, clock, log } = context;
  const { host, port } = config.http;
  let world: World | undefined;
  const slack = slackRoutes({
    subscriptions: () => context.subscriptions,
    act: (click) => actOnSlack(click, world, context, workspaces),
    redisIsAway: () => watch.trouble() === 'away',
    audit,
    log,
  });
  const page = pageRoutes({
    source: pageSource(context, workspaces, feed),
    addActions(app, parts, frame) {
      world = worldOf(parts, { feed, audit, rules });
      addActions(app, world, stopping);
      addAssistant(app, world, { frame, log });
    },
    queues: () => opened().all.values(),
    mountedAt: mountedAt ?? '',
    version: packageVersion(),
    ready: (signal) => watch.untilUsable(signal),
    clock,
    log,
  });
  const queueNames = (): Promise<string[]> => dispatcher.exportQueues();
  const monitoring = monitoringRoutes(monitored(context, { ...deps, queues: queueNames }));
  return createHttpServer({
    routes: [monitoring, slack, page],
    access,
    host,
    port,
    usualPort: USUAL_PORT,
    mountedAt: mountedAt ?? '',
    door,
    audit,
    clock,
    log,
  });
}

async function actOnSlack(
  click: Click,
  world: World | undefined,
  { subscriptions }: AppContext,
  workspaces: Workspaces,
): Promise<string> {
  const { subscription: name, workspace } = click.about;
  const subscription = subscriptions.find((one) => one.name === name);
  // The route is open when all routes are, and it has found the subscription a moment ago.
  if (world === undefined || subscription === undefined) throw usage(`There is no subscription "${name}".`);
  const { timeZone, language } = workspaces.surroundingsOf(workspace);
  return await actOnClick(click, world, { subscription, timeZone, language: subscription.language ?? language });
}

function notMountable(path: string): ChangefeedError {
  const message = `The status page at ${path} of your server needs a token: set http.tokens.read and http.tokens.operate, or http.trustedProxy.`;
  return new ChangefeedError('CF_CONFIG_INVALID', { message });
}

function cannotListen({ host, port }: AppContext['config']['http'], cause: unknown): ChangefeedError {
  const message = `The status page cannot listen on ${host}, port ${port ?? USUAL_PORT} (${messageOf(cause)}). Set http.host and http.port to an address that is free, or http.enabled to false.`;
  // It may be free again in a moment: whoever restarts the process is not to give up.
  const isTaken = cause instanceof Error && 'code' in cause && cause.code === 'EADDRINUSE';
  return new ChangefeedError(isTaken ? 'CF_PORT_TAKEN' : 'CF_CONFIG_INVALID', { message, cause });
}
