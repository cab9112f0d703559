/** The identity of a process: distinguishes it from a later process with the same id. */
import { spawnSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { z } from 'zod';
import { systemClock } from './clock.js';

/** Ids are reused, after a reboot and in each container; the token stands for the start time of the process. */
export const processSchema = z.object({ pid: z.number(), token: z.string() });
export type ProcessIdentity = z.infer<typeof processSchema>;

export const thisProcess: ProcessIdentity = identityOf(process.pid);

export function identityOf(pid: number): ProcessIdentity {
  return { pid, token: processFacts(pid)?.token ?? randomUUID() };
}

/** A reused id counts as alive where start times are unknown: a living process must not lose its lock. */
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

type PlatformFacts = Partial<Record<string, string>> | undefined;

/** /proc: "pid (name) state ppid …". Names may have spaces and parentheses; field 22: start, ticks since boot. */
function fromProc(pid: number): PlatformFacts {
  try {
    const boot = readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    const fields = /\((?<name>.*)\) (?<state>\S) (?<ppid>\d+)(?: \S+){17} (?<ticks>\d+)/s.exec(stat)?.groups;
    return { ...fields, start: `${boot}/${fields?.['ticks']}` };
  } catch {
    return undefined;
  }
}

/** macOS and the BSDs have no /proc. Locale and time zone are fixed: all processes read the same text. */
function fromPs(pid: number): PlatformFacts {
  const env = { ...process.env, LC_ALL: 'C', TZ: 'UTC' };
  const columns = ['stat=', 'ppid=', 'lstart=', 'comm='].flatMap((column) => ['-o', column]);
  const { stdout } = spawnSync('ps', [...columns, '-p', String(pid)], { env, encoding: 'utf8' });
  // The start has five words: "Tue Nov 24 07:10:18 2026".
  return /^\s*(?<state>\S)\S*\s+(?<ppid>\d+)\s+(?<start>(?:\S+\s+){4}\S+)\s+(?<name>.+?)\s*$/.exec(stdout)?.groups;
}

const CHECK_MS = 500;
const SHELL = /^-?(?:\S*\/)?(?:ba|da|a|z|k)?sh$/;

/** npm passes SIGTERM on to its shell only: without this, the process would go on and could not be stopped. Resolves when the shell or the npm that started this process has ended. Never resolves if npm did not start it. */
export async function untilNpmEnds(env: Readonly<Record<string, string | undefined>>): Promise<void> {
  if (env['npm_execpath'] === undefined) await new Promise(() => undefined);
  const { ppid } = process;
  const parent = processFacts(ppid);
  // Some shells replace themselves with the last program of a line: then npm is the parent.
  const npm = parent !== undefined && SHELL.test(parent.name) ? identityOf(parent.ppid) : undefined;
  while (process.ppid === ppid && (npm === undefined || isAlive(npm))) await systemClock.sleep(CHECK_MS);
}
