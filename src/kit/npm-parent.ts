/** npm passes SIGTERM on to its shell only: without this, the process would go on and could not be stopped. */
import { systemClock } from './clock.js';
import { identityOf, isAlive, processFacts } from './process-identity.js';

const CHECK_MS = 500;
const SHELL = /^-?(?:\S*\/)?(?:ba|da|a|z|k)?sh$/;

/** Resolves when the shell or the npm that started this process has ended. Never resolves if npm did not start it. */
export async function untilNpmEnds(env: Readonly<Record<string, string | undefined>>): Promise<void> {
  if (env['npm_execpath'] === undefined) await new Promise(() => undefined);
  const { ppid } = process;
  const parent = processFacts(ppid);
  // Some shells replace themselves with the last program of a line: then npm is the parent.
  const npm = parent !== undefined && SHELL.test(parent.name) ? identityOf(parent.ppid) : undefined;
  while (process.ppid === ppid && (npm === undefined || isAlive(npm))) await systemClock.sleep(CHECK_MS);
}
