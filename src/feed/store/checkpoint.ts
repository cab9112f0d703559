/** JSON with a format version, checked when read. */
import { z } from 'zod';
import type { ListName } from '../../crm/lists/lists.js';
import { checkpointSchema, summarySchema, type Checkpoint, type SweepSummary } from './sweep-state.js';
import type { WorkspaceKeys } from '../../redis/keys.js';
import { parseJson, checked, unreadable, type StoredAt } from '../../redis/stored.js';

/** Increase it when the meaning of a checkpoint or a summary changes. Another version is refused. */
const VERSION = 2;

const versionSchema = z.object({ version: z.number() });

/** "" for null. */
export function packVersioned(stored: Checkpoint | SweepSummary | null): string {
  return stored === null ? '' : JSON.stringify({ version: VERSION, ...stored });
}

export function readCheckpoint(
  json: string | null,
  { keys, workspace }: WorkspaceKeys,
  list: ListName,
): Checkpoint | null {
  const at = { key: keys.sweep(workspace, list), field: 'checkpoint' };
  return readVersioned(checkpointSchema, json, { what: 'the checkpoint of a sweep', ...at });
}

export function readSummary(
  json: string | null,
  { keys, workspace }: WorkspaceKeys,
  list: ListName,
): SweepSummary | null {
  const at = { key: keys.sweep(workspace, list), field: 'lastSweep' };
  return readVersioned(summarySchema, json, { what: 'the summary of the last complete sweep', ...at });
}

function readVersioned<T extends object>(schema: z.ZodType<T>, json: string | null, at: StoredAt): T | null {
  if (json === null) return null;
  const stored = parseJson(json, at);
  const { version } = checked(versionSchema, stored, at);
  if (version !== VERSION) throw unreadable(at, `format version ${version}, written by another release`);
  const { version: _, ...value } = checked(schema, stored, at) as T & { version?: number };
  return value as unknown as T;
}
