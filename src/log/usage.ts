/**
 * What a workspace uses, by day: requests, rows and bytes that were read, deliveries. Counted in the process and added in batches, because a request must
 * not wait for it: a process that is killed loses the last seconds. Events are not here: they are counted with the log (day-counts.ts).
 */
import { z } from 'zod';
import { sleepUntilAborted, type Clock } from '../kit/clock.js';
import { dayIn } from '../kit/iso-time.js';
import type { Keys, WorkspaceRedis } from '../redis/keys.js';
import type { Redis } from '../redis/client.js';
import { KEPT_MS, readDays } from './day-counts.js';

const count = z.number().int();
const counts = {
  requests: count.describe('requests for pages, with those that failed'),
  records: count.describe('rows on the pages that were read, also on unchanged ones'),
  events: count.describe('events about records in the log'),
  deliveries: count.describe('deliveries of events and digests that arrived'),
  bytes: count.describe('of the pages that were read, unpacked'),
};

export const usage = z.strictObject({
  at: z.string().describe('ISO 8601, UTC'),
  workspaces: z.array(
    z.strictObject({
      workspace: z.string(),
      timeZone: z.string(),
      total: z.strictObject(counts),
      days: z.array(z.strictObject({ date: z.string().describe('in the time zone of the workspace'), ...counts })),
    }),
  ),
});
/** What the workspaces used, by day. */
export type Usage = z.output<typeof usage>;
type Counts = Omit<Usage['workspaces'][number]['days'][number], 'date'>;
/** What a process counts of it. */
export type Used = Omit<Counts, 'events'>;

const EVERY_MS = 5_000;

export interface UsageOptions {
  redis: Redis;
  keys: Keys;
  clock: Clock;
  timeZoneOf: (workspace: string) => string;
}

export type UsageCounter = ReturnType<typeof createUsage>;

export function createUsage({ redis, keys, clock, timeZoneOf }: UsageOptions) {
  const waiting = new Map<string, Map<string, number>>();
  const closing = new AbortController();
  let writing: Promise<void> | null = null;
  let underWay: Promise<unknown> = Promise.resolve();

  const keep = (key: string, what: string, many: number): void => {
    const of = waiting.get(key) ?? new Map<string, number>();
    waiting.set(key, of.set(what, (of.get(what) ?? 0) + many));
  };
  const write = async (): Promise<void> => {
    const batch = [...waiting];
    waiting.clear();
    underWay = Promise.all(
      batch.map(async ([key, of]) => {
        const step = redis.multi();
        for (const [what, many] of of) step.hincrby(key, what, many);
        // Without an answer it may be there, and is counted twice then: rather than not at all.
        await step
          .pexpire(key, KEPT_MS)
          .exec()
          .catch(() => of.forEach((many, what) => keep(key, what, many)));
      }),
    );
    await underWay;
  };
  const writeSoon = async (): Promise<void> => {
    await sleepUntilAborted(clock, EVERY_MS, closing.signal);
    await write();
    writing = waiting.size > 0 && !closing.signal.aborted ? writeSoon() : null;
  };
  return {
    add(workspace: string, used: Partial<Used>): void {
      const key = keys.used(workspace, dayIn(timeZoneOf(workspace), clock.now()));
      for (const [what, many] of Object.entries(used)) if (many > 0) keep(key, what, many);
      writing ??= writeSoon();
    },
    /** Everything of the workspace is erased: nothing of it is added from then on. */
    async forget(workspace: string): Promise<void> {
      await underWay;
      for (const key of waiting.keys()) if (key.startsWith(keys.used(workspace, ''))) waiting.delete(key);
    },
    /** Adds what waits. */
    async close(): Promise<void> {
      closing.abort();
      await writing;
      await write();
    },
  };
}

const USED = ['requests', 'records', 'deliveries', 'bytes'] as const;

/** What was used on each of these days, in their order. */
export async function readUsedDays(
  { redis, keys, workspace }: WorkspaceRedis,
  dates: readonly string[],
): Promise<Usage['workspaces'][number]['days']> {
  const reading = Promise.all(dates.map((date) => redis.hmget(keys.used(workspace, date), ...USED)));
  const [counted, used] = await Promise.all([readDays({ redis, keys, workspace }, dates), reading]);
  return dates.map((date, nth) => {
    const [requests = 0, records = 0, deliveries = 0, bytes = 0] = (used[nth] ?? []).map(Number);
    const logged = [...(counted[nth] ?? [])].filter(([[kind]]) => kind === 'event');
    const events = logged.reduce((sum, [, many]) => sum + many, 0);
    return { date, requests, records, events, deliveries, bytes };
  });
}

export function totalOf(days: readonly Counts[]): Counts {
  const sum = (what: keyof Counts): number => days.reduce((all, day) => all + day[what], 0);
  return {
    ...{ requests: sum('requests'), records: sum('records'), events: sum('events') },
    ...{ deliveries: sum('deliveries'), bytes: sum('bytes') },
  };
}
