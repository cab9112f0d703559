/**
 * A read API in a process of its own that costs next to nothing: the list `people`, its pages serialised beforehand, no limit.
 * A cursor is the id of the last record of a page, and stays valid. Commands come over the channel to the parent process.
 */
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { systemClock } from '../../src/kit/clock.js';
import type { ChangeCommand, PageServerCommand, PageServerReply } from './pages.js';
import { SlidingWindow, tooManyRequests } from '../../sandbox/faults/rate-limit.js';
import { DEFAULT_BEHAVIOUR, type Behaviour } from '../../sandbox/faults/behaviour.js';
import { person } from './person.js';

const PAGE = 50;
const NO_LIMIT: Behaviour = { ...DEFAULT_BEHAVIOUR, limitRequests: 0 };
const LIST_PATH = '/v2/people';
const count = Number(process.argv[2] ?? 10_000);
const generations = new Uint32Array(count);
const pageCount = Math.max(1, Math.ceil(count / PAGE));
const paths = Array.from({ length: pageCount }, (_, page) =>
  page === 0 ? LIST_PATH : `${LIST_PATH}?cursor=${person(page * PAGE - 1).id}`,
);
const numbers = new Map(paths.map((path, page) => [path, page]));
const bodies = Array.from({ length: pageCount }, (_, page) => bodyOf(page));

let generation = 0;
let latencyMs = 0;
let limits = NO_LIMIT;
let window = new SlidingWindow();
let [inFlight, peak, requests, refused] = [0, 0, 0, 0];

function bodyOf(page: number): Buffer {
  const end = Math.min(count, (page + 1) * PAGE);
  const peopleList = [];
  for (let index = page * PAGE; index < end; index += 1) peopleList.push(person(index, generations[index]));
  const nextCursor = end < count ? (peopleList.at(-1)?.id ?? null) : null;
  return Buffer.from(JSON.stringify({ success: true, data: { peopleList, nextCursor } }));
}

/** Returns how many records and pages it has changed. */
function change({ where, share }: ChangeCommand): { records: number; pages: number } {
  generation += 1;
  const chosen = where === 'few pages' ? inFewPages(share) : where === 'all' ? everything() : atRandom(share);
  const changed = new Set<number>();
  for (const index of chosen) {
    generations[index] = generation;
    changed.add(Math.floor(index / PAGE));
  }
  for (const page of changed) bodies[page] = bodyOf(page);
  return { records: chosen.size, pages: changed.size };
}

function everything(): Set<number> {
  return new Set(Array.from({ length: count }, (_, index) => index));
}

/** All records of pages that follow each other, from another one each time. */
function inFewPages(share: number): Set<number> {
  const first = (generation * 7_919) % pageCount;
  const wanted = Math.round(count * share);
  return new Set(Array.from({ length: wanted }, (_, nth) => (first * PAGE + nth) % count));
}

function atRandom(share: number): Set<number> {
  const chosen = new Set<number>();
  const wanted = Math.round(count * share);
  while (chosen.size < wanted) chosen.add(Math.floor(Math.random() * count));
  return chosen;
}

function answer(path: string, response: ServerResponse): void {
  const body = bodies[numbers.get(path) ?? -1];
  inFlight -= 1;
  if (body === undefined) return void response.writeHead(400, { 'content-length': 0 }).end();
  response.writeHead(200, { 'content-type': 'application/json; charset=utf-8', 'content-length': body.length });
  response.end(body);
}

const server = createServer((request, response) => {
  requests += 1;
  inFlight += 1;
  peak = Math.max(peak, inFlight);
  const waitMs = window.take(systemClock.now(), limits);
  if (waitMs > 0) refuse(waitMs, response);
  else if (latencyMs === 0) answer(request.url ?? '', response);
  else void systemClock.sleep(latencyMs).then(() => answer(request.url ?? '', response));
});

function refuse(waitMs: number, response: ServerResponse): void {
  inFlight -= 1;
  refused += 1;
  const { body, headers } = tooManyRequests(waitMs, 'reason');
  response.writeHead(429, { ...headers, 'content-length': body.length }).end(body);
}

function carriedOut(command: PageServerCommand): PageServerReply {
  switch (command.do) {
    case 'change':
      return change(command);
    case 'latency':
      latencyMs = command.ms;
      return {};
    case 'reset':
      [peak, requests, refused] = [inFlight, 0, 0];
      return {};
    case 'limit':
      limits = {
        ...NO_LIMIT,
        limitRequests: command.requests,
        limitWindowMs: command.perMs,
        foreignPerSecond: command.foreignPerSecond,
      };
      window = new SlidingWindow();
      return {};
    case 'stats':
      return { peak, requests, refused };
  }
}

process.on('message', (command: PageServerCommand) => process.send?.(carriedOut(command)));
process.on('disconnect', () => process.exit(0));
server.listen(0, '127.0.0.1', () => {
  const { port } = server.address() as AddressInfo;
  const bytes = bodies.reduce((sum, body) => sum + body.length, 0);
  process.send?.({ url: `http://127.0.0.1:${port}`, paths, bytes } satisfies PageServerReply);
});
