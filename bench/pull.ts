/**
 * How fast a consumer empties the log: the client of the package over HTTP, with 1,000 events at a time, beside an XRANGE of the same entries that
 * drops them and one that parses them. `npm run bench -- pull --records 20000`
 */
import { parseConfig } from '../src/config/parse.js';
import { pull as ask } from '../src/client/pull.js';
import { pull } from '../src/delivery/handlers/pull/pull.js';
import type { Redis } from '../src/redis/client.js';
import { Keys } from '../src/redis/keys.js';
import { openChangefeed } from '../src/service/changefeed.js';
import { appendEvents, changeEvent } from '../test/support/events.js';
import { eventually } from '../test/support/eventually.js';
import { atLeast, type Bench } from './support/bench.js';
import { withRedis } from './support/stage.js';
import { inTurns, median, rounded, type Contestant } from './support/turns.js';

const WORKSPACE = 'acme';
const TOKEN = 'token-of-the-bench-consumer-7305918264';
const AT_ONCE = 1_000;
/** A record of 1.8 kB, twice. */
const WEIGHT = 1_500;

export const pulled: Bench = {
  name: 'pull',
  does: 'events a second that a consumer pulls over HTTP, beside raw reads of the log',
  records: [20_000],
  run: ({ records: [records = 0], turns }) =>
    withRedis(async (redis, url) => {
      const keys = new Keys(WORKSPACE);
      const events = Array.from({ length: records }, (_, at) =>
        changeEvent({ record: `r${at % 500}`, sequence: 1 + Math.floor(at / 500), weight: WEIGHT }),
      );
      await appendEvents({ redis, keys }, events);
      const raw = {
        workspaces: [{ name: WORKSPACE, baseUrl: 'http://127.0.0.1:9/api', token: 't' }],
        subscriptions: [pull({ name: 'bench', token: TOKEN, start: 'beginning' })],
        http: { port: 0 },
        redis: { prefix: WORKSPACE },
      };
      const config = parseConfig(raw, { source: 'bench', redisUrl: url });
      const feed = await openChangefeed({ config, http: true, reportsProblems: false });
      await feed.start(['dispatch']);
      try {
        const offset = (): Promise<string | null> => redis.hget(keys.offsets('bench'), WORKSPACE);
        await eventually(async () => {
          if ((await offset()) === null) throw new Error('the consumer has not begun');
        });
        const ours: Contestant = {
          name: 'pulled',
          prepare: async () => {
            await redis.multi().del(keys.pulled('bench')).hset(keys.offsets('bench'), WORKSPACE, '0').exec();
          },
          sweep: () => pullAll(feed.pageUrl ?? '', records),
        };
        const reading = (name: string, use: (text: string) => unknown): Contestant => ({
          name,
          sweep: () => readAll(redis, keys.log(WORKSPACE), use),
        });
        const contestants = [
          ours,
          reading('read', (text) => text),
          reading('parsed', (text) => JSON.parse(text) as unknown),
        ];
        const times = await inTurns(contestants, { turns, records });
        const rate = (name: string): number =>
          rounded(records / (median((times.get(name) ?? []).map(({ ms }) => ms)) / 1_000), 0);
        const [own, read, parsed] = [rate('pulled'), rate('read'), rate('parsed')];
        return {
          ...{ median: own, unit: 'events/s' },
          ratios: { 'of XRANGE': rounded(own / read, 2), 'of XRANGE and JSON.parse': rounded(own / parsed, 2) },
          goals: { 'of XRANGE and JSON.parse': atLeast(0.25) },
          facts: { records, bytes: JSON.stringify(events[0]).length, read, parsed },
        };
      } finally {
        await feed.stop();
      }
    }),
};

async function pullAll(url: string, records: number): Promise<number> {
  let got = 0;
  const call = { url, token: TOKEN, consumer: 'bench', max: AT_ONCE } as const;
  for await (const { events } of ask(call)) {
    got += events.length;
    if (got >= records) break;
  }
  return got;
}

async function readAll(redis: Redis, log: string, use: (text: string) => unknown): Promise<number> {
  let got = 0;
  for (let from = '-'; ;) {
    const entries = await redis.xrange(log, from, '+', 'COUNT', AT_ONCE);
    for (const [, [, text = '']] of entries) use(text);
    got += entries.length;
    if (entries.length < AT_ONCE) return got;
    from = `(${entries.at(-1)?.[0] ?? ''}`;
  }
}
