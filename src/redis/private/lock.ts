/** A lock between processes: a file with the identity of its holder. The lock of a process that has ended is free. */
import { randomUUID } from 'node:crypto';
import { linkSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { isDeepStrictEqual } from 'node:util';
import { processSchema, type ProcessIdentity } from '../../kit/process-identity.js';
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

/** @param dead the holder that has ended @returns false if another process was faster */
export function takeLock(path: string, holder: ProcessIdentity, dead: ProcessIdentity | undefined): boolean {
  try {
    if (dead !== undefined) removeStale(path, dead);
    writeFileSync(path, JSON.stringify(holder), { flag: 'wx', mode: 0o600 });
    return true;
  } catch (error) {
    if (error instanceof Error && 'code' in error && ['EEXIST', 'ENOENT'].includes(String(error.code))) return false;
    throw error;
  }
}

/** Another process may have taken the lock since its dead holder was read: then it is put back. */
function removeStale(path: string, dead: ProcessIdentity): void {
  const aside = `${path}.${randomUUID()}`;
  renameSync(path, aside);
  try {
    if (!isDeepStrictEqual(lockHolder(aside), dead)) linkSync(aside, path);
  } finally {
    rmSync(aside);
  }
}
