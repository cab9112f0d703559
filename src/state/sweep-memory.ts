/**
 * How the checkpoint of a sweep and the summary of the last complete one are laid down in Redis: JSON with the number of its
 * form, so that a later release knows what it finds there.
 *
 * Form 2 remembers a drift as moves from form to form. What another form says of a sweep on its way or of a drift under way is
 * not used: the next sweep starts at the first page and looks for itself. Everything else in a summary has been the same so far.
 */
import type { Checkpoint, SweepSummary } from '../sweep/store.js';

const FORM = 2;

type Stored<T> = T & { form?: number };

export function packMemory(memory: Checkpoint | SweepSummary | null): string {
  return memory === null ? '' : JSON.stringify({ form: FORM, ...memory });
}

/** Null also for a checkpoint that this release cannot go on from. */
export function readCheckpoint(json: string | null): Checkpoint | null {
  if (json === null) return null;
  const { form, ...checkpoint } = JSON.parse(json) as Stored<Checkpoint>;
  return form === FORM ? checkpoint : null;
}

export function readSummary(json: string | null): SweepSummary | null {
  if (json === null) return null;
  const { form, ...summary } = JSON.parse(json) as Stored<SweepSummary>;
  if (form === FORM) return summary;
  const { drifted: _drifted, carried: _carried, begun: _begun, ...rest } = summary;
  return rest;
}
