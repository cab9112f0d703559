/**
 * What a workspace uses, by day: requests, rows and bytes that were read, deliveries. Counted in the process and added in batches, because a request must
 * not wait for it: a process that is killed loses the last seconds. Events are not here: they are counted with the log (day-counts.ts).
 */
import { z } from 'zod';
import { sleepUntilAborted, type Clock } from '../kit/clock.js';
import { dayIn } from '../kit/iso-time.js';
import type { Keys, WorkspaceRedis } from '../redis/keys.js';
import type { Redis } from '../redis/client.js';
import { loadScript } from '../redis/scripts.js';
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

const addUsage = loadScript('add-usage', import.meta.url);

const EVERY_MS = 5_000;

export interface UsageOptions {
  redis: Redis;
  keys: Keys;
  clock: Clock;
  timeZoneOf: (workspace: string) => string;
}

export type UsageCounter = ReturnType<typeof createUsage>;

export function createUsage({ redis, keys, clock, timeZoneOf }: UsageOptions) {
  /** By workspace and date. */
  const waiting = new Map<string, { workspace: string; date: string; of: Map<string, number> }>();
  const closing = new AbortController();
  let writing: Promise<void> | null = null;

  const keep = (workspace: string, date: string, counted: Iterable<readonly [string, number]>): void => {
    const { of } = waiting.get(`${workspace} ${date}`) ?? { of: new Map<string, number>() };
    for (const [what, many] of counted) if (many > 0) of.set(what, (of.get(what) ?? 0) + many);
    waiting.set(`${workspace} ${date}`, { workspace, date, of });
  };
  const write = async (): Promise<void> => {
    const batch = [...waiting.values()];
    waiting.clear();
    await Promise.all(
      batch.map(async ({ workspace, date, of }) => {
        const touched = [keys.used(workspace, date), keys.state(workspace)];
        // Without an answer it may be there, and is counted twice then: rather than not at all.
        await addUsage.run(redis, touched, [KEPT_MS, ...[...of].flat()]).catch(() => keep(workspace, date, of));
      }),
    );
  };
  const writeSoon = async (): Promise<void> => {
    await sleepUntilAborted(clock, EVERY_MS, closing.signal);
    await write();
    writing = waiting.size > 0 && !closing.signal.aborted ? writeSoon() : null;
  };
  return {
    add(workspace: string, used: Partial<Used>): void {
      keep(workspace, dayIn(timeZoneOf(workspace), clock.now()), Object.entries(used));
      writing ??= writeSoon();
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
