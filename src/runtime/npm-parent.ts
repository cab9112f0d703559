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
  while (process.ppid === ppid && (npm === undefined || exists(npm))) await systemClock.sleep(CHECK_MS);
}

function exists(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'EPERM';
  }
}

function nameAndParentOf(pid: number): { name: string; ppid: number } | undefined {
  try {
    // "pid (name) state ppid …"
    const [, name, ppid] = /^\d+ \((.*)\) \S (\d+)/s.exec(readFileSync(`/proc/${pid}/stat`, 'utf8')) ?? [];
    return name === undefined ? undefined : { name, ppid: Number(ppid) };
  } catch {
    // For macOS and the BSDs, which have no /proc.
    const ps = spawnSync('ps', ['-o', 'ppid=', '-o', 'comm=', '-p', String(pid)], { encoding: 'utf8' });
    const [, ppid, name] = /^\s*(\d+)\s+(.+?)\s*$/.exec(ps.status === 0 ? ps.stdout : '') ?? [];
    return name === undefined ? undefined : { name, ppid: Number(ppid) };
  }
}
