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
  return { pid, token: processFacts(pid)?.token ?? randomUUID() };
}

/** Where start times are unknown, a reused id counts as alive: a living process must not lose its lock. */
export function isAlive({ pid, token }: ProcessIdentity): boolean {
  if (pid === thisProcess.pid) return token === thisProcess.token;
  try {
    process.kill(pid, 0);
  } catch (error) {
    // EPERM: the process is alive and belongs to another user.
    if (!(error instanceof Error && 'code' in error && error.code === 'EPERM')) return false;
  }
  return [token, undefined].includes(processFacts(pid)?.token);
}

interface ProcessFacts {
  name: string;
  ppid: number;
  /** Stands for its start. A zombie has ended: its token is random, and equal to no other. */
  token: string;
}

export function processFacts(pid: number): ProcessFacts | undefined {
  const { name = '', state = '', ppid, start = '' } = fromProc(pid) ?? fromPs(pid) ?? {};
  const token = state === 'Z' ? randomUUID() : start.replace(/\s+/g, ' ');
  return ppid === undefined ? undefined : { name, ppid: Number(ppid), token };
}

type Found = Partial<Record<string, string>> | undefined;

/** /proc: "pid (name) state ppid …". Names may have spaces and parentheses; field 22: start, ticks since boot. */
function fromProc(pid: number): Found {
  try {
    const boot = readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    const fields = /\((?<name>.*)\) (?<state>\S) (?<ppid>\d+)(?: \S+){17} (?<ticks>\d+)/s.exec(stat)?.groups;
    return { ...fields, start: `${boot}/${fields?.['ticks']}` };
  } catch {
    return undefined;
  }
}

/** For macOS and the BSDs, without /proc. Locale and time zone are fixed: all processes read the same text. */
function fromPs(pid: number): Found {
  const env = { ...process.env, LC_ALL: 'C', TZ: 'UTC' };
  const columns = ['stat=', 'ppid=', 'lstart=', 'comm='].flatMap((column) => ['-o', column]);
  const { stdout } = spawnSync('ps', [...columns, '-p', String(pid)], { env, encoding: 'utf8' });
  // The start has five words: "Tue Nov 24 07:10:18 2026".
  return /^\s*(?<state>\S)\S*\s+(?<ppid>\d+)\s+(?<start>(?:\S+\s+){4}\S+)\s+(?<name>.+?)\s*$/.exec(stdout)?.groups;
}
