/** The identity of a process: distinguishes it from a later process with the same id. */
import { spawnSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { z } from 'zod';

/** Ids are reused, after a reboot and in each container; the token stands for the start time of the process. */
export const processSchema = z.object({ pid: z.number(), token: z.string() });
export type ProcessIdentity = z.infer<typeof processSchema>;

export const thisProcess: ProcessIdentity = identityOf(process.pid);

export function identityOf(pid: number): ProcessIdentity {
  return { pid, token: startOf(pid) ?? randomUUID() };
}

/**
 * On a system that does not report start times, a process with a reused id counts as alive. The opposite error would be worse:
 * a living process would lose its lock or its Redis.
 */
export function isAlive({ pid, token }: ProcessIdentity): boolean {
  if (pid === thisProcess.pid) return token === thisProcess.token;
  try {
    process.kill(pid, 0);
  } catch (error) {
    // EPERM: the process is alive and belongs to another user.
    if (!(error instanceof Error && 'code' in error && error.code === 'EPERM')) return false;
  }
  return [token, undefined].includes(startOf(pid));
}

/** Undefined if the system does not report it. A zombie has ended: its random start is equal to no other. */
function startOf(pid: number): string | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    // "pid (name) state …": the name may contain spaces and parentheses. Field 22 is the start, in ticks since boot.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    if (fields[0] === 'Z') return randomUUID();
    return `${readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()}/${fields[19]}`;
  } catch {
    return startByPs(pid);
  }
}

/** For macOS and the BSDs, which have no /proc. The locale and the time zone are fixed so that all processes read the same text. */
function startByPs(pid: number): string | undefined {
  const env = { ...process.env, LC_ALL: 'C', TZ: 'UTC' };
  const ps = spawnSync('ps', ['-o', 'stat=', '-o', 'lstart=', '-p', String(pid)], { env, encoding: 'utf8' });
  if (ps.status !== 0) return undefined;
  const [state = '', ...start] = ps.stdout.trim().split(/\s+/);
  return state.startsWith('Z') ? randomUUID() : start.join(' ');
}
