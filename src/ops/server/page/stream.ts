/** `GET /events`: server-sent events or lines of JSON. A reader continues with `Last-Event-ID`, or with `from`. */
import type { FastifyReply, FastifyRequest } from 'fastify';
import { once } from 'node:events';
import { z } from 'zod';
import { storedEvents, type TailedEvent } from '../../../delivery/ask/tail.js';
import { BEFORE_ALL, parseBeginning } from '../../../events/log-id.js';
import { END, formatPosition, parsePosition, type Position } from '../../../events/position.js';
import { isAborted, type Clock } from '../../../kit/clock.js';
import { SECURITY_HEADERS } from '../http/browser-safety.js';
import { createPlaces } from '../http/limits.js';
import { nameOf } from '../http/access.js';
import { refuse } from '../http/app.js';
import { streamed } from './answers.js';
import { REDIS_AWAY, unlessAway, type Api } from './api.js';
import { RefusedError } from './refused.js';
import { eventsQuery, filterFrom, workspacesFrom } from './event-filter.js';
import { endsOf } from './events-before.js';
import type { EventViews } from './event-view.js';
import type { LiveEvents } from './live-events.js';
import { sourceFor } from './scope.js';
import type { PageSource } from './source.js';

const streamQuery = eventsQuery.extend({
  from: z.string().max(2_000).optional().describe('`beginning`, `now`, a time, a log id, or a position; default: now'),
  follow: z.enum(['true', 'false']).default('true').describe('false: ends at the end of the log (only lines of JSON)'),
  view: z.enum(['event', 'summary']).default('event').describe('`summary`: short texts instead of whole records'),
});

/** A proxy closes a connection on which nothing is sent, mostly after 30 to 60 s. */
const SIGN_OF_LIFE_MS = 15_000;

export interface StreamDeps {
  source: PageSource;
  views: EventViews;
  live: LiveEvents;
  clock: Clock;
}

/** Each costs memory for as long as it is open, and one that only reads what is stored computes all the time. */
const SHARES = { endless: { most: 200, mostOfOne: 50 }, ending: { most: 8, mostOfOne: 4 } };

const schema = {
  tags: ['events'],
  operationId: 'followEvents',
  summary: 'Events as they come: server-sent events or lines of JSON.',
  querystring: streamQuery,
  headers: z.looseObject({
    'last-event-id': z.string().optional().describe('the position of the last event that was received'),
  }),
  response: {
    200: {
      description: 'Without end, unless `follow=false`. `id` of a server-sent event is its position.',
      content: { 'text/event-stream': { schema: z.string() }, 'application/x-ndjson': { schema: streamed } },
    },
  },
};

export function addStream(app: Api, deps: StreamDeps): void {
  const places = { endless: createPlaces(SHARES.endless), ending: createPlaces(SHARES.ending) };
  const config = { access: 'read', offline: true, ofWorkspace: true } as const;
  // HEAD has no route: it would be answered by a stream without end.
  app.get('/events', { config, schema, exposeHeadRoute: false }, async (request, reply) => {
    const { query } = request;
    const source = sourceFor(request.caller, deps.source);
    const wanted = filterFrom(query, source);
    const start = { ...deps, from: query.from, workspaces: workspacesFrom(query, source) };
    const redisIsAway = () => source.redisIsAway();
    const from = redisIsAway() ? 'away' : await unlessAway(startOf(request, start), redisIsAway);
    if (from === 'away') return await refuse(reply, REDIS_AWAY);
    // The reader may have gone meanwhile. From here to the stream nothing is awaited, so that no close is missed.
    if (reply.raw.destroyed) return reply.hijack();
    // Node does not say that an answer is closed while it waits for the one before it on the same connection.
    if (reply.raw.socket === null)
      throw new RefusedError(400, 'A stream must be the first request that is open on its connection.');
    const server = request.headers.accept?.includes('text/event-stream') === true;
    const kind = query.follow === 'true' || server ? 'endless' : 'ending';
    const leave = places[kind].enter(nameOf(request));
    if (typeof leave === 'string') throw new RefusedError(429, limitText(kind, leave));
    const stream = openStream(reply, server ? 'text/event-stream' : 'application/x-ndjson');
    try {
      await sendEvents(stream, { ...deps, query, from, wanted, server, isEndless: kind === 'endless' });
    } finally {
      stream.end();
      leave();
    }
    return reply;
  });
}

interface Sending extends StreamDeps {
  query: z.output<typeof streamQuery>;
  from: Position;
  wanted: ReturnType<typeof filterFrom>;
  server: boolean;
  isEndless: boolean;
}

function limitText(kind: keyof typeof SHARES, limit: 'no place' | 'no place for this one'): string {
  const { most, mostOfOne } = SHARES[kind];
  const who = limit === 'no place' ? `This process has ${most}` : `You have ${mostOfOne}`;
  const what = kind === 'endless' ? 'open streams' : 'open streams that end (follow=false)';
  return `${who} ${what}, which is the limit. Close some.`;
}

async function sendEvents(stream: Stream, { query, from, wanted, server, isEndless, ...deps }: Sending): Promise<void> {
  const toText = server ? sentEvent : (line: string) => `${line}\n`;
  const textOf = async (event: TailedEvent, position: string): Promise<string> =>
    toText(JSON.stringify(query.view === 'summary' ? await deps.views(event) : { position, ...event }), position);
  if (server) void keepAlive(stream, deps.clock);
  const { signal } = stream;
  const events = isEndless ? deps.live.follow(from, signal) : storedEvents(deps.source.log, new Map(from), { signal });
  const position = new Map(from);
  for await (const event of events) {
    position.set(event.workspace, event.logId);
    if (wanted(event.event)) await stream.write(await textOf(event, formatPosition(position)));
  }
}

interface Stream {
  /** Aborts when the connection is closed. */
  signal: AbortSignal;
  write(text: string): Promise<void>;
  end(): void;
}

export function openStream(reply: FastifyReply, type: string): Stream {
  const { raw } = reply.hijack();
  const closed = new AbortController();
  raw.on('close', () => closed.abort());
  raw.on('error', () => closed.abort());
  raw.writeHead(200, {
    ...SECURITY_HEADERS,
    'content-type': `${type}; charset=utf-8`,
    // A compression of the host would keep the events back …
    'cache-control': 'no-store, no-transform',
    // … and so would nginx. would keep the events back.
    'x-accel-buffering': 'no',
  });
  raw.flushHeaders();
  // Hours may pass without an event, and lines of JSON have no signs of life.
  raw.setTimeout(0);
  return {
    signal: closed.signal,
    async write(text: string): Promise<void> {
      if (isAborted(closed.signal) || raw.write(text)) return;
      await once(raw, 'drain', { signal: closed.signal }).catch(() => undefined);
    },
    end: (): void => void raw.end(),
  };
}

function sentEvent(line: string, position: string): string {
  return `id: ${position}\ndata: ${line}\n\n`;
}

async function keepAlive(stream: Stream, clock: Clock): Promise<void> {
  // The first line makes browsers wait no longer than this before they connect again.
  await stream.write('retry: 2000\n\n');
  try {
    for (;;) {
      await clock.sleep(SIGN_OF_LIFE_MS, stream.signal);
      await stream.write(': still here\n\n');
    }
  } catch {
    // The reader has gone.
  }
}

async function startOf(
  { headers }: FastifyRequest,
  { from, source, workspaces }: { from: string | undefined; source: PageSource; workspaces: readonly string[] },
): Promise<Position> {
  const last = headers['last-event-id'];
  const text = typeof last === 'string' && last !== '' ? last : (from ?? 'now');
  const ends = (): Promise<Position> => endsOf(source.log, workspaces);
  if (text === 'now') return await ends();
  const position = parsePosition(text);
  // A workspace that the position does not name begins now.
  if (position !== null)
    return new Map([...(await ends()), ...position].filter(([name, at]) => workspaces.includes(name) && at !== END));
  if (parseBeginning(text, 'UTC') === undefined)
    throw new RefusedError(
      400,
      'from: allowed are beginning, now, a time such as 2026-03-01T00:00:00Z, a log id, or a position.',
    );
  const read = source.workspaces().filter(({ name }) => workspaces.includes(name));
  return new Map(read.map(({ name, timeZone }) => [name, parseBeginning(text, timeZone) ?? BEFORE_ALL]));
}
