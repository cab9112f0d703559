/** The processes that run roles: one key with TTL for each, and a set of their ids. */
import { hostname } from 'node:os';
import { z } from 'zod';
import type { Redis } from './client.js';
import { isAlive, thisProcess } from '../kit/process-identity.js';
import type { Keys } from './keys.js';
import { jsonOrNull } from './stored.js';

const count = z.number().int();

/** A process as it reports itself. Redis keeps it in this form. */
export const processStatus = z.object({
  id: z.string().describe('random'),
  version: z.string().nullable().describe('of the package; null when it is not known'),
  pid: count,
  host: z.string(),
  startedAt: z.iso.datetime(),
  roles: z.array(z.string()).readonly(),
  workspaces: z.array(z.string()).readonly().describe('of its configuration, and those that came at run time'),
  book: z
    .string()
    .optional()
    .describe('the revision of the workspaces that come at run time, as far as it has taken them over'),
  rules: z.string().optional().describe('the digest of its file of rules; absent where it has none'),
  rulesSince: z.iso.datetime().optional().describe('since when it has had them'),
  rulesMissing: z
    .object({
      rules: count.describe('in the file when it was read last'),
      since: z.iso.datetime(),
      file: z.string(),
      run: z.boolean().describe('they go on; false: the process has started without them'),
    })
    .optional()
    .describe('its file of rules was there and is gone, empty or unreadable'),
  refused: z
    .array(
      z.object({ what: z.enum(['configuration', 'rules', 'workspaces']), since: z.iso.datetime(), error: z.string() }),
    )
    .readonly()
    .optional()
    .describe('what was changed, is not valid and was not applied'),
  stalled: z
    .array(z.object({ loop: z.string(), since: z.iso.datetime() }))
    .readonly()
    .describe('loops that have made no progress for too long'),
  failing: z
    .array(z.object({ loop: z.string(), since: z.iso.datetime(), at: z.iso.datetime(), error: z.string() }))
    .readonly()
    .describe('loops whose last turn failed; `since` and `at`: the first and the last failure in a row'),
  clock: z
    .object({
      apartMs: z.number().describe('the clock of Redis less that of the process'),
      stepped: z
        .object({ byMs: z.number().describe('negative: back'), agoMs: z.number() })
        .nullable()
        .describe('the last step within ten minutes'),
    })
    .optional()
    .describe('absent where it was not measured yet'),
  edits: z
    .array(z.object({ workspace: z.string(), list: z.string(), known: count, of: count }))
    .readonly()
    .optional()
    .describe('edits that it found, and those of which it knows who made them'),
  late: z
    .array(z.object({ workspace: z.string(), list: z.string(), forMs: z.number() }))
    .readonly()
    .optional()
    .describe('lists for which, as far as the process knows, no process has asked within their usual period'),
  waiting: z
    .object({ lists: count, forMs: z.number().describe('the first of them') })
    .optional()
    .describe(
      'lists that are due and wait for their turn, because the process sweeps no more than its processor allows',
    ),
});
export type ProcessStatus = z.output<typeof processStatus>;

/** With the time at which the process started: the system gives its pid to another process later. */
const storedProcess = processStatus.extend({ token: z.string() });

export function createProcessRegistry(redis: Redis, keys: Keys) {
  const reports = async () => {
    const ids = await redis.smembers(keys.processes());
    const found = await Promise.all(ids.map((id) => redis.get(keys.process(id))));
    return { found: found.filter((json) => json !== null), gone: ids.filter((_id, at) => found[at] === null) };
  };
  return {
    async beat(process: ProcessStatus, ttlMs: number): Promise<void> {
      const { token } = thisProcess;
      await redis.set(keys.process(process.id), JSON.stringify({ ...process, token }), 'PX', ttlMs);
      await redis.sadd(keys.processes(), process.id);
      const { gone } = await reports();
      if (gone.length > 0) await redis.srem(keys.processes(), ...gone);
    },
    async leave(id: string): Promise<void> {
      await redis.del(keys.process(id));
      await redis.srem(keys.processes(), id);
    },
    /** Writes nothing: it is asked where Redis takes no writes, too. */
    async list(): Promise<ProcessStatus[]> {
      const { found } = await reports();
      return found
        .flatMap(readReport)
        .filter(mayLive)
        .map(({ token: _, ...process }) => process);
    },
  };
}

const SAID_BY_ALL = {
  id: true,
  version: true,
  pid: true,
  host: true,
  startedAt: true,
  roles: true,
  workspaces: true,
  token: true,
} as const;
const ofAnyVersion = storedProcess.pick(SAID_BY_ALL).transform((said) => ({ ...said, stalled: [], failing: [] }));

/** What another version says of itself beyond that it runs is left out where it has another form. */
function readReport(json: string): z.output<typeof storedProcess>[] {
  const report = jsonOrNull(json);
  const { data = ofAnyVersion.safeParse(report).data } = storedProcess.safeParse(report);
  return data === undefined ? [] : [data];
}

/** A process of this machine that was just killed still has its key. */
function mayLive({ host, pid, token }: z.output<typeof storedProcess>): boolean {
  return host !== hostname() || isAlive({ pid, token });
}
