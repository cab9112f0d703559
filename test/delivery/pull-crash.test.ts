/**
 * Consumers and the processes that serve them are killed at random: between taking a batch, its answer, and its acknowledgement. Nothing is missed, what
 * is new comes in the order of its log, and only what was not acknowledged comes again.
 */
import { expect, it } from 'vitest';
import type { PulledBatch } from '../../src/delivery/pull/consumers.js';
import { systemClock } from '../../src/kit/clock.js';
import { appendEvents, changeEvent } from '../support/events.js';
import { useProcesses, type TestProcess } from '../support/process.js';
import { useRedis } from '../support/redis.js';
import { isGate } from '../support/night.js';
import { eventually } from '../support/eventually.js';

const redis = useRedis();
const spawn = useProcesses();
const TOKEN = 'token-of-the-killed-consumer-6620194';
const headers = { authorization: `Bearer ${TOKEN}`, 'content-type': 'application/json' };
const WORKSPACES = ['acme', 'beta'];
const KILLS = isGate ? 4 : 60;

async function serve(): Promise<{ child: TestProcess; url: string }> {
  const env = { PULL_URL: redis.url, PULL_PREFIX: redis.keys.prefix, PULL_TOKEN: TOKEN };
  const child = spawn(new URL('../support/pull-child.ts', import.meta.url), { env });
  const line = await child.waitForLine(/^serves http/);
  return { child, url: `${line.split(' ')[1] ?? ''}/api/consumers/c` };
}

/** What one consumer got; and, of each event that was acknowledged, when the answer that said so had come. */
interface Seen {
  given: { askedAtMs: number; events: string[] }[];
  acknowledgedAtMs: Map<string, number>;
}

/** Asks and acknowledges until it is told to end; it dies without a word now and then, at any of its steps. */
async function consume(urls: () => string, seen: Seen, isOver: () => boolean): Promise<void> {
  let [cursor, before]: [string | null, string[]] = [null, []];
  while (!isOver()) {
    const dies =
      Math.random() < 0.25 ? AbortSignal.timeout(Math.round(Math.random() * 60)) : new AbortController().signal;
    try {
      const max = 1 + Math.floor(Math.random() * 40);
      const inOne = Math.random() < 0.5 && cursor !== null;
      if (cursor !== null && !inOne) {
        const body = JSON.stringify({ cursor });
        const answer = await fetch(`${urls()}/acknowledge`, { method: 'POST', headers, body, signal: dies });
        await answer.text();
        if (answer.ok) acknowledge(before, seen);
        [cursor, before] = [null, []];
      }
      const query = `max=${max}&wait=1s${inOne ? `&ack=${cursor}` : ''}`;
      const askedAtMs = systemClock.monotonic();
      const answer = await fetch(`${urls()}/next?${query}`, { headers, signal: dies });
      const batch = (await answer.json()) as PulledBatch;
      if (!answer.ok) throw new Error('refused');
      if (inOne) acknowledge(before, seen);
      const events = batch.events.map(({ source, subject, data }) => `${source} ${subject} ${data.sequence}`);
      if (events.length > 0) seen.given.push({ askedAtMs, events });
      [cursor, before] = [batch.cursor, events];
    } catch {
      // Another consumer goes on in its place, and knows nothing of it.
      [cursor, before] = [null, []];
      await systemClock.sleep(20);
    }
  }
}

function acknowledge(events: readonly string[], { acknowledgedAtMs }: Seen): void {
  for (const event of events) if (!acknowledgedAtMs.has(event)) acknowledgedAtMs.set(event, systemClock.monotonic());
}

it(
  'pull: whoever is killed whenever, nothing is missed, the order of each record holds, and only what was not acknowledged is repeated',
  { timeout: 600_000 },
  async () => {
    const serving = await Promise.all([serve(), serve()]);
    const seen: Seen = { given: [], acknowledgedAtMs: new Map() };
    const logged: string[] = [];
    let isOver = false;
    const urls = (): string => serving[Math.floor(Math.random() * 2)]?.url ?? '';
    const consumers = [1, 2].map(() => consume(urls, seen, () => isOver));
    for (let kill = 1; kill <= KILLS; kill += 1) {
      for (let round = 1; round <= 5; round += 1) {
        for (const workspace of WORKSPACES) {
          const sequence = 5 * kill + round;
          const events = ['a', 'b', 'c', 'd'].map((record) => changeEvent({ record, sequence, workspace }));
          await appendEvents(redis, events);
          logged.push(...events.map(({ source, subject, data }) => `${source} ${subject} ${data.sequence}`));
        }
        await systemClock.sleep(Math.round(Math.random() * 80));
      }
      const at = kill % 2;
      await serving[at]?.child.kill('SIGKILL');
      serving[at] = await serve();
    }
    const given = (): string[] => seen.given.flatMap(({ events }) => events);
    await eventually(() => expect(new Set(given()).size).toBe(logged.length));
    isOver = true;
    await Promise.all(consumers);

    const repeated = seen.given.flatMap(({ askedAtMs, events }) =>
      events.filter((event) => (seen.acknowledgedAtMs.get(event) ?? Infinity) < askedAtMs),
    );
    expect(repeated).toEqual([]);
    // What is new of a workspace: as it was logged.
    const first = [...new Set(given())];
    for (const workspace of WORKSPACES) {
      const own = (event: string): boolean => event.startsWith(`/workspaces/${workspace} `);
      expect(first.filter(own)).toEqual(logged.filter(own));
    }
    expect([given().length > logged.length, seen.acknowledgedAtMs.size > 0]).toEqual([true, true]);
  },
);
