/**
 * What the overview costs with a year of counted days: the answer of the API for 7, 90 and 366 days,
 * and the first view of the page in Chromium: `npm run bench -- overview --records 100000`. The days and the records are written into Redis
 * as commits would have.
 */
import { existsSync } from 'node:fs';
import type { Redis } from 'ioredis';
import { chromium } from 'playwright-core';
import { parseConfig } from '../src/config/parse.js';
import { packRecord } from '../src/feed/store/packing.js';
import { dayIn } from '../src/kit/iso-time.js';
import type { Counted } from '../src/log/day-counts.js';
import { Keys, recordField } from '../src/redis/keys.js';
import { openChangefeed } from '../src/service/changefeed.js';
import { atMost, type Bench } from './support/bench.js';
import { person } from './support/person.js';
import { withRedis } from './support/stage.js';
import { median, rounded } from './support/turns.js';

const WORKSPACE = 'bench';
const TOKEN = 'operate-token-of-the-bench-7305918264';
const DAYS = 366;
const DAY_MS = 86_400_000;
const OBJECTS = ['person', 'organization', 'todo', 'memo', 'deal'];
const OWNERS = 20;
const FIELDS = 15;
const CHROMIUM = [process.env['CHROMIUM'], '/usr/bin/chromium', '/usr/bin/google-chrome'].find(
  (path) => path !== undefined && existsSync(path),
);

export const dayOverview: Bench = {
  name: 'overview',
  does: 'the overview with a year of counted days, by the API and in a browser',
  records: [100_000],
  run: ({ records: [records = 0], turns }) =>
    withRedis(async (redis, url) => {
      const fields = await writeDays(redis);
      await writeRecords(redis, records);
      const raw = {
        workspaces: [{ name: WORKSPACE, baseUrl: 'http://127.0.0.1:9/api', token: 't', timeZone: 'UTC' }],
        http: { port: 0, tokens: { operate: TOKEN } },
        redis: { prefix: WORKSPACE },
      };
      const feed = await openChangefeed({
        config: parseConfig(raw, { source: 'bench', redisUrl: url }),
        http: true,
        reportsProblems: false,
      });
      await feed.start(['handle']);
      try {
        const address = feed.pageUrl ?? '';
        const [week, quarter, year] = [
          await answerMs(address, 7, turns),
          await answerMs(address, 90, turns),
          await answerMs(address, DAYS, turns),
        ];
        const firstMs = await firstViewMs(address, turns);
        const ratios = {
          '7 days, ms': week,
          '90 days, ms': quarter,
          'a year, ms': year,
          'first view, ms': firstMs ?? Number.NaN,
        };
        const goals = firstMs === null ? {} : { 'first view, ms': atMost(1_000) };
        return { median: week, unit: 'ms', ratios, goals, facts: { records, days: DAYS, fieldsOfADay: fields } };
      } finally {
        await feed.stop();
      }
    }),
};

/** @returns fields of a day */
async function writeDays(redis: Redis): Promise<number> {
  const keys = new Keys(WORKSPACE);
  const counted = OBJECTS.flatMap((object): Counted[] => [
    ...['created', 'updated', 'deleted'].map((verb): Counted => ['event', `crm.${object}.${verb}`, 'edited']),
    ...Array.from({ length: OWNERS }, (_, at): Counted => ['owner', object, `u${at}`, `담당자 ${at}`]),
    ...Array.from({ length: FIELDS }, (_, at): Counted => ['field', object, `필드 ${at}`]),
  ]);
  for (let back = 0; back < 2 * DAYS; back += 1) {
    const key = keys.day(WORKSPACE, dayIn('UTC', Date.now() - back * DAY_MS));
    await redis.hset(key, ...counted.flatMap((one, at) => [JSON.stringify(one), String(1 + ((at + back) % 40))]));
  }
  return counted.length;
}

async function writeRecords(redis: Redis, records: number): Promise<void> {
  const key = new Keys(WORKSPACE).records(WORKSPACE, 'people');
  for (let from = 0; from < records; from += 1_000) {
    const pipeline = redis.pipeline();
    for (let at = from; at < Math.min(records, from + 1_000); at += 1) {
      const record = person(at);
      const image = JSON.stringify(record);
      pipeline.hset(
        key,
        recordField(record.id),
        packRecord(record.id, { digest: '0123456789abcdef', sequence: 0, image }),
      );
    }
    await pipeline.exec();
  }
}

async function answerMs(address: string, days: number, turns: number): Promise<number> {
  const times: number[] = [];
  for (let turn = 0; turn <= 2 * turns; turn += 1) {
    const started = performance.now();
    const answer = await fetch(`${address}/api/overview?days=${days}`, {
      headers: { authorization: `Bearer ${TOKEN}` },
    });
    const { workspaces } = (await answer.json()) as { workspaces: { days: unknown[] }[] };
    if (workspaces[0]?.days.length !== days) throw new Error(`there are ${workspaces[0]?.days.length} days`);
    // The first answer compiles.
    if (turn > 0) times.push(performance.now() - started);
  }
  return rounded(median(times));
}

/** From the address to the first number; null without a browser. */
async function firstViewMs(address: string, turns: number): Promise<number | null> {
  if (CHROMIUM === undefined) return null;
  const browser = await chromium.launch({ executablePath: CHROMIUM, args: ['--no-sandbox'] });
  const times: number[] = [];
  try {
    for (let turn = 0; turn <= turns; turn += 1) {
      const context = await browser.newContext();
      await context.request.post(`${address}/api/session`, {
        headers: { 'x-changefeed-action': '1' },
        data: { token: TOKEN },
      });
      const page = await context.newPage();
      const started = performance.now();
      await page.goto(address);
      await page.locator('.tiles dd a').first().waitFor();
      if (turn > 0) times.push(performance.now() - started);
      await context.close();
    }
  } finally {
    await browser.close();
  }
  return rounded(median(times));
}
