/**
 * Notices that npm has ended, where npm started this process (`npx changefeed`, `npm run`). npm runs a shell, which runs this process, and
 * passes SIGTERM on to the shell only: without this, the process would go on with nobody who could stop it.
 */
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { systemClock } from './clock.js';

const CHECK_MS = 500;
const SHELL = /^-?(?:\S*\/)?(?:ba|da|a|z|k)?sh$/;

/** Resolves when the shell or the npm that started this process has ended. Never resolves if npm did not start it. */
export async function untilNpmEnds(env: Readonly<Record<string, string | undefined>>): Promise<void> {
  if (env['npm_execpath'] === undefined) await new Promise(() => undefined);
  const { ppid } = process;
  const parent = nameAndParentOf(ppid);
  // Some shells replace themselves with the last program of a line: then npm is the parent.
  const npm = parent !== undefined && SHELL.test(parent.name) ? parent.ppid : undefined;
  while (process.ppid === ppid && (npm === undefined || isParentOf(ppid, npm))) await systemClock.sleep(CHECK_MS);
}

/** A process whose parent was killed has another parent at once, also where nobody collects the killed one's exit status. */
function isParentOf(child: number, pid: number): boolean {
  const stat = statOf(child);
  return stat === undefined ? exists(pid) : stat.ppid === pid;
}

function exists(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'EPERM';
  }
}

interface Stat {
  name: string;
  ppid: number;
}

/** From Linux' /proc: undefined on other systems, and when the process has ended. */
function statOf(pid: number): Stat | undefined {
  try {
    // "pid (name) state ppid …"
    const [, name, ppid] = /^\d+ \((.*)\) \S (\d+)/s.exec(readFileSync(`/proc/${pid}/stat`, 'utf8')) ?? [];
    return name === undefined ? undefined : { name, ppid: Number(ppid) };
  } catch {
    return undefined;
  }
}

function nameAndParentOf(pid: number): Stat | undefined {
  const stat = statOf(pid);
  if (stat !== undefined) return stat;
  // For macOS and the BSDs, which have no /proc.
  const ps = spawnSync('ps', ['-o', 'ppid=', '-o', 'comm=', '-p', String(pid)], { encoding: 'utf8' });
  const [, ppid, name] = /^\s*(\d+)\s+(.+?)\s*$/.exec(ps.status === 0 ? ps.stdout : '') ?? [];
  return name === undefined ? undefined : { name, ppid: Number(ppid) };
}
