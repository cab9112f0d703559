/** Which process an entry on disk means, and whether that very process still lives. */
import { spawnSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { z } from 'zod';

/** A number alone is not enough: numbers are used again, after a reboot and in every container. The token is its start. */
export const processSchema = z.object({ pid: z.number(), token: z.string() });
export type ProcessIdentity = z.infer<typeof processSchema>;

export const thisProcess: ProcessIdentity = identityOf(process.pid);

export function identityOf(pid: number): ProcessIdentity {
  return { pid, token: startOf(pid) ?? randomUUID() };
}

/** Where the system does not say when a process started, one with a reused number counts as alive: the lesser harm. */
export function isAlive({ pid, token }: ProcessIdentity): boolean {
  if (pid === thisProcess.pid) return token === thisProcess.token;
  try {
    process.kill(pid, 0);
  } catch (error) {
    // EPERM: it lives, but belongs to another user.
    if (!(error instanceof Error && 'code' in error && error.code === 'EPERM')) return false;
  }
  return [token, undefined].includes(startOf(pid));
}

/** Undefined where the system does not say. A zombie has ended, only its parent has not collected it: equal to no start. */
function startOf(pid: number): string | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    // "pid (name) state …": the name may hold spaces and parentheses. Field 22 is the start, in ticks since boot.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    if (fields[0] === 'Z') return randomUUID();
    return `${readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()}/${fields[19]}`;
  } catch {
    return startByPs(pid);
  }
}

/** macOS and the BSDs have no /proc. The same text for every process, whatever its language and time zone. */
function startByPs(pid: number): string | undefined {
  const env = { ...process.env, LC_ALL: 'C', TZ: 'UTC' };
  const ps = spawnSync('ps', ['-o', 'stat=', '-o', 'lstart=', '-p', String(pid)], { env, encoding: 'utf8' });
  if (ps.status !== 0) return undefined;
  const [state = '', ...start] = ps.stdout.trim().split(/\s+/);
  return state.startsWith('Z') ? randomUUID() : start.join(' ');
}
