/**
 * Who did what: one entry for each decision of a person, on the page, by its API or by a command. Refusals and sign-ins are entries too, counted by
 * address and minute, so that who tries many tokens fills no list. Words of a request are left out: they may quote a record.
 */
import { z } from 'zod';
import { isoTime, sleepUntilAborted, type Clock } from '../kit/clock.js';
import { messageOf } from '../kit/errors.js';
import { DECIDED, type Log } from '../kit/log.js';
import type { Redis } from '../redis/client.js';
import type { Keys } from '../redis/keys.js';

export const AUDIT_OUTCOMES = ['done', 'refused', 'failed'] as const;

export const auditEntry = z
  .looseObject({
    at: z.string().describe('ISO 8601, UTC'),
    by: z
      .string()
      .describe('the name that a proxy or the system gives; with a token its role; `` where nobody signed in'),
    how: z.string().describe('token, session, proxy, command, or mcp: by an assistant'),
    address: z.string(),
    what: z.string().describe('the name of the action, or `sign in`'),
    outcome: z.enum(AUDIT_OUTCOMES).describe('refused: not allowed; failed: allowed, and not possible'),
    count: z.number().describe('what it was done to; of refusals and sign-ins, how many in one minute'),
  })
  .meta({ id: 'AuditEntry' });

/** One entry; the further properties name what it was done to. */
export type AuditEntry = z.output<typeof auditEntry>;

/** Which entries are wanted, newest first. */
export interface AuditQuery {
  /** ISO 8601. @defaultValue as far back as there are entries */
  since?: string | undefined;
  /** A name, or the role of a token. */
  by?: string | undefined;
  /** The name of an action: `'skip'`, `'dead retry'`, `'sign in'`. */
  what?: string | undefined;
  /** Whether it was done, not allowed, or allowed and not possible. */
  outcome?: (typeof AUDIT_OUTCOMES)[number] | undefined;
  subscription?: string | undefined;
  /** The id of a rule of the page. */
  rule?: string | undefined;
  /** @defaultValue 100 */
  limit?: number | undefined;
}

export type Audit = ReturnType<typeof createAudit>;
export type Decided = Omit<AuditEntry, 'at' | 'outcome' | 'count'> & { count?: number };

/** However many decisions there are in the time for which they are kept. */
const MOST_ENTRIES = 100_000;
const READ_AT_ONCE = 1_000;
const MINUTE_MS = 60_000;
/** Addresses, and what they try, that are counted apart in one minute. */
const MOST_COUNTED = 500;

interface Counted extends Pick<AuditEntry, 'by' | 'how' | 'address' | 'what' | 'outcome'> {}

interface AuditDeps {
  redis: Redis;
  keys: Keys;
  clock: Clock;
  log: Log;
  keepMs: number;
}

export function createAudit(deps: AuditDeps) {
  const { redis, keys, clock, log, keepMs } = deps;
  const write = async (entry: AuditEntry): Promise<void> => {
    const [key, oldest] = [keys.audit(), String(Math.max(0, clock.now() - keepMs))];
    try {
      const stored = redis.pipeline().xadd(key, 'MAXLEN', '~', MOST_ENTRIES, '*', 'entry', JSON.stringify(entry));
      const [[error] = [null]] = (await stored.xtrim(key, 'MINID', '~', oldest).exec()) ?? [];
      if (error !== null) throw error;
    } catch (error) {
      // What was decided is done, and the log has it.
      log.warn({ error: messageOf(error) }, 'an entry of the audit was not stored');
    }
  };
  return {
    async decided({ count = 1, ...about }: Decided): Promise<void> {
      log.info({ ...about, count }, DECIDED);
      await write({ at: isoTime(clock.now()), outcome: 'done', count, ...about } as AuditEntry);
    },
    ...createCounts(deps, write),
    read: (query: AuditQuery): Promise<AuditEntry[]> => readEntries(redis, keys.audit(), query),
  };
}

function createCounts({ clock, log }: AuditDeps, write: (entry: AuditEntry) => Promise<void>) {
  const counted = new Map<string, AuditEntry>();
  let minute: AbortController | null = null;
  const flush = async (): Promise<void> => {
    minute?.abort();
    minute = null;
    const entries = [...counted.values()];
    counted.clear();
    for (const entry of entries) log.info(entry, 'access');
    await Promise.all(entries.map(write));
  };
  return {
    /** Of one address, as one entry a minute. */
    count({ by, how, address, what, outcome }: Counted): void {
      const isFull = counted.size >= MOST_COUNTED;
      const own = [by, how, address, what, outcome].join(' ');
      const name = isFull && !counted.has(own) ? '' : own;
      const at = isoTime(clock.now());
      const entry = counted.get(name) ?? {
        at,
        by,
        how,
        address: name === '' ? 'others' : address,
        what,
        outcome,
        count: 0,
      };
      entry.count += 1;
      counted.set(name, entry);
      if (minute !== null) return;
      minute = new AbortController();
      void sleepUntilAborted(clock, MINUTE_MS, minute.signal).then(flush);
    },
    flush,
  };
}

async function readEntries(redis: Redis, key: string, query: AuditQuery): Promise<AuditEntry[]> {
  const { since, limit = 100, ...wanted } = query;
  const oldest = since === undefined ? '-' : String(Date.parse(since));
  const found: AuditEntry[] = [];
  for (let end = '+'; found.length < limit;) {
    const lines = await redis.xrevrange(key, end, oldest, 'COUNT', READ_AT_ONCE);
    const entries = lines.map(([, [, json = '{}']]) => auditEntry.parse(JSON.parse(json)));
    const isWanted = (entry: AuditEntry): boolean =>
      Object.entries(wanted).every(([name, value]) => value === undefined || entry[name] === value);
    found.push(...entries.filter(isWanted).slice(0, limit - found.length));
    const last = lines.at(-1)?.[0];
    if (last === undefined || lines.length < READ_AT_ONCE) break;
    end = `(${last}`;
  }
  return found;
}
