/**
 * The activity of one record, as an assistant asks for it over HTTP by the SDK's client: `what_changed`, which looks at the newest 4,000 of
 * 100,000 events of some 1.2 kB on 5,000 records, and `why`. Nothing is polled meanwhile, and the CRM counts what it is asked.
 *
 *     npm run bench -- assistant [--records 100000] [--turns 5]
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import type { Redis } from 'ioredis';
import { parseConfig } from '../src/config/parse.js';
import { LIST_NAMES } from '../src/crm/lists/lists.js';
import { Keys } from '../src/redis/keys.js';
import { openChangefeed } from '../src/service/changefeed.js';
import { appendEvents, changeEvent } from '../test/support/events.js';
import { atMost, type Bench } from './support/bench.js';
import type { PageServer } from './support/pages.js';
import { person } from './support/person.js';
import { withPages, withRedis } from './support/stage.js';
import { median, quantile, rounded } from './support/turns.js';

const EVENTS = 100_000;
const RECORDS = 5_000;
const CALLS_OF_A_TURN = 60;
const FIELDS = 10;
const TOKEN = 'operate-token-7305918264';

export const assistant: Bench = {
  name: 'assistant',
  does: 'the activity of one record, asked by an assistant over HTTP',
  records: [EVENTS],
  run: async ({ records: [events = EVENTS], turns }) =>
    await withRedis(
      async (redis, url) =>
        await withPages(RECORDS, async (pages) => {
          const { times, requests } = await measured({ redis, url, pages, events, calls: turns * CALLS_OF_A_TURN });
          const medians = Object.fromEntries(Object.entries(times).map(([tool, { ms }]) => [tool, median(ms)]));
          const worst = Math.max(...Object.values(medians));
          const slow = Math.max(...Object.values(times).map(({ ms }) => quantile(ms, 0.99)));
          return {
            ...{ median: rounded(worst), unit: 'ms' },
            ratios: { 'of 50 ms': rounded(worst / 50), 'p99 of 200 ms': rounded(slow / 200) },
            goals: { 'of 50 ms': atMost(1), 'p99 of 200 ms': atMost(1) },
            facts: {
              requestsToTheCrm: requests,
              tools: Object.entries(times).map(([tool, { ms, cpuMs }]) => ({
                ...{ tool, calls: ms.length, medianMs: rounded(median(ms)), p99Ms: rounded(quantile(ms, 0.99)) },
                cpuMs: rounded(cpuMs / ms.length),
              })),
            },
          };
        }),
    ),
};

interface Measuring {
  redis: Redis;
  url: string;
  pages: PageServer;
  events: number;
  calls: number;
}

async function measured({ redis, url, pages, events, calls }: Measuring) {
  const stateDir = await mkdtemp(join(tmpdir(), 'changefeed-bench-'));
  const enabled = Object.fromEntries(LIST_NAMES.map((list) => [list, { enabled: list === 'people' }]));
  const budget = { requests: 100_000, perSeconds: 1 };
  const raw = {
    workspaces: [{ name: 'acme', baseUrl: pages.url, token: 'token', budget, lists: enabled }],
    http: { port: 0, tokens: { operate: TOKEN } },
  };
  const config = parseConfig(raw, { source: 'bench', redisUrl: url });
  const feed = await openChangefeed({ config, http: true, stateDir });
  const client = new Client({ name: 'bench', version: '1' });
  try {
    await feed.start(['dispatch']);
    await feed.sweep();
    for (let from = 0; from < events; from += 1_000)
      await appendEvents(
        { redis, keys: new Keys(config.redis.prefix) },
        Array.from({ length: 1_000 }, (_, nth) => anEvent(from + nth)),
      );
    const requestInit = { headers: { authorization: `Bearer ${TOKEN}` } };
    const transport = new StreamableHTTPClientTransport(new URL(`${feed.pageUrl ?? ''}/mcp`), { requestInit });
    await client.connect(transport);
    await pages.reset();
    const ask = async (name: string, given: Record<string, unknown>): Promise<void> => {
      const { isError, content } = await client.callTool({ name, arguments: given });
      if (isError === true) throw new Error(JSON.stringify(content));
    };
    const times = {
      what_changed: await timed(calls, (record) => ask('what_changed', { list: 'people', record })),
      why: await timed(calls, (id) => ask('why', { list: 'people', id })),
    };
    return { times, requests: (await pages.stats()).requests };
  } finally {
    await client.close();
    await feed.stop();
    await rm(stateDir, { recursive: true, force: true });
  }
}

async function timed(calls: number, ask: (record: string) => Promise<void>) {
  const ms: number[] = [];
  const used = process.cpuUsage();
  for (let call = 0; call < calls; call += 1) {
    const started = performance.now();
    await ask(person((call * 37) % RECORDS).id);
    ms.push(performance.now() - started);
  }
  const { user, system } = process.cpuUsage(used);
  return { ms, cpuMs: (user + system) / 1_000 };
}

function anEvent(nth: number) {
  const record = person(nth % RECORDS);
  const { data, ...event } = changeEvent({ record: record.id, sequence: nth + 1 });
  const image = { ...Object.fromEntries(Object.entries(record).slice(0, FIELDS)), id: record.id };
  const images = { before: { ...image, 등급: 'B' }, after: { ...image, 등급: 'A' } };
  return { ...event, data: { ...data, ...images, changes: [{ field: '등급', before: 'B', after: 'A' }] } };
}
