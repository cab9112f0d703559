/** A lock between processes: a file with the identity of its holder. The lock of a process that has ended is free. */
import { randomUUID } from 'node:crypto';
import { renameSync, rmSync, writeFileSync } from 'node:fs';
import { isDeepStrictEqual } from 'node:util';
import { isAlive, processSchema, type ProcessIdentity } from '../../kit/process-identity.js';
import { readStateFile } from './state-dir.js';

/** Undefined if there is no lock, or its holder has not yet written its identity. */
export function lockHolder(path: string): ProcessIdentity | undefined {
  const text = readStateFile(path);
  try {
    return processSchema.parse(JSON.parse(text ?? ''));
  } catch {
    return undefined;
  }
}

/**
 * The lock of a dead holder is replaced in one step: without it, for however short, others would take a living holder for none. Who replaces it
 * holds the lock of that, so that nobody replaces the lock of a holder that was faster.
 * @param dead the holder that has ended @returns false if another process was faster
 */
export function takeLock(path: string, holder: ProcessIdentity, dead: ProcessIdentity | undefined): boolean {
  if (dead !== undefined) return replaceLock(path, holder, dead);
  try {
    writeFileSync(path, JSON.stringify(holder), { flag: 'wx', mode: 0o600 });
    return true;
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'EEXIST') return false;
    throw error;
  }
}

function replaceLock(path: string, holder: ProcessIdentity, dead: ProcessIdentity): boolean {
  const replacing = `${path}.replacing`;
  const other = lockHolder(replacing);
  if ((other !== undefined && isAlive(other)) || !takeLock(replacing, holder, other)) return false;
  try {
    if (!isDeepStrictEqual(lockHolder(path), dead)) return false;
    const next = `${path}.${randomUUID()}`;
    writeFileSync(next, JSON.stringify(holder), { mode: 0o600 });
    renameSync(next, path);
    return true;
  } finally {
    rmSync(replacing, { force: true });
  }
}
