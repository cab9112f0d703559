/** The checkpoint of a sweep and the summary of the last complete one: JSON with a format version, checked when it is read. */
import { z } from 'zod';
import type { ListName } from '../crm/lists/lists.js';
import type { Held } from '../detect/held.js';
import type { PastDrift } from '../detect/schema-drift/drift.js';
import type { Checkpoint, SweepSummary } from '../sweep/store.js';
import type { WorkspaceRedis } from './keys.js';
import { isTime, parseJson, checked, unreadable, type StoredAt } from './stored.js';

/** Increase it when the meaning of a checkpoint or a summary changes. Another version is refused. */
const VERSION = 2;

const time = z.string().refine(isTime);
const count = z.number();
const perRule = z.record(z.string(), count);
const driftedField = z.object({ field: z.string(), moves: z.record(z.string(), z.array(z.string())) });
const pastDrift: z.ZodType<PastDrift> = driftedField.extend({ sweeps: count });
const held: z.ZodType<Held> = z.object({
  what: z.enum(['removals', 'creations']),
  why: z.enum(['too many', 'replaced']),
  count,
  of: count,
  since: time,
  at: time,
  known: z.object({ seen: count, of: count }).exactOptional(),
  reported: count.exactOptional(),
});

/** What a checkpoint and a summary have in common. */
const sweep = z.object({
  sweepId: z.string(),
  startedAt: time,
  mode: z.enum(['baseline', 'changes']),
  pages: count,
  counts: z.object({
    seen: count,
    unchanged: count,
    baselined: count,
    created: count,
    edited: count,
    refreshed: count,
    touched: count,
    ignored: count,
    stale: count,
    // Absent in what an earlier release stored.
    held: count.default(0),
    deleted: count,
    missing: count,
  }),
  muted: perRule.exactOptional(),
  source: z.string().optional(),
  unreadable: z.array(z.object({ page: count, id: z.string().nullable(), reason: z.string() })).exactOptional(),
});

const checkpointSchema: z.ZodType<Checkpoint> = sweep.extend({
  cursor: z.string().nullable(),
  readAt: time.exactOptional(),
  firstPage: z.string().nullable(),
  quiet: z.literal(true).exactOptional(),
  finishing: z.literal(true).exactOptional(),
  fresh: count.exactOptional(),
  verdict: z
    .object({
      fields: z.array(driftedField),
      edited: z.array(z.string()),
      allowed: count,
      heldSince: time.nullable(),
    })
    .exactOptional(),
  changedPages: count.exactOptional(),
  takesOver: z.literal(true).exactOptional(),
});

const summarySchema: z.ZodType<SweepSummary> = sweep.extend({
  completedAt: time,
  held: z.array(held).exactOptional(),
  drifted: z.array(pastDrift).exactOptional(),
  usualPause: z
    .object({ since: time, changes: count, changedAt: time, pausesMs: z.tuple([count, count]), month: time })
    .exactOptional(),
  staleness: z.object({ kind: z.enum(['unchanged', 'empty']), since: time, longestPauseMs: count }).exactOptional(),
});

const versionSchema = z.object({ version: z.number() });

/** "" for null. */
export function packVersioned(stored: Checkpoint | SweepSummary | null): string {
  return stored === null ? '' : JSON.stringify({ version: VERSION, ...stored });
}

export function readCheckpoint(
  json: string | null,
  { keys, workspace }: WorkspaceRedis,
  list: ListName,
): Checkpoint | null {
  const key = keys.sweep(workspace, list);
  return readVersioned(checkpointSchema, json, {
    key,
    field: 'checkpoint',
    what: 'the checkpoint of a sweep',
    remedy: `HDEL ${key} checkpoint removes it; the next sweep then starts at the first page.`,
  });
}

export function readSummary(
  json: string | null,
  { keys, workspace }: Omit<WorkspaceRedis, 'redis'>,
  list: ListName,
): SweepSummary | null {
  const key = keys.sweep(workspace, list);
  return readVersioned(summarySchema, json, {
    key,
    field: 'lastSweep',
    what: 'the summary of the last complete sweep',
    remedy: `HDEL ${key} lastSweep removes it; the next sweep then runs without the previous one's findings (schema changes, held records, usual pause).`,
  });
}

function readVersioned<T extends object>(schema: z.ZodType<T>, json: string | null, at: StoredAt): T | null {
  if (json === null) return null;
  const stored = parseJson(json, at);
  const { version } = checked(versionSchema, stored, at);
  if (version !== VERSION) throw unreadable(at, `format version ${version}, written by another release`);
  const { version: _, ...value } = checked(schema, stored, at) as T & { version?: number };
  return value as unknown as T;
}
