/** A configuration in code: run, and run anew when it has changed, with whatever it imports of its own folder. */
import { createJiti, type Jiti } from 'jiti';

export interface Evaluated {
  module: unknown;
  /** What was read of it, but for installed packages: the file itself and what it imports. */
  files: string[];
}

/** Read for configurations so far: these are read anew, and nothing else of the process is touched. */
const ours = new Set<string>();

/**
 * @param library what `crm-changefeed` stands for: the same module instance as ours, not a second copy. Errors that handlers
 *   throw are ours to recognise, and a command installed globally serves a folder that has no node_modules.
 * @throws whatever the file throws
 */
export async function evaluate(file: string, library: object): Promise<Evaluated> {
  const jiti = createJiti(file, { virtualModules: { 'crm-changefeed': library }, fsCache: false });
  for (const path of ours) Reflect.deleteProperty(jiti.cache, path);
  const before = new Set(Object.keys(jiti.cache));
  try {
    const module = await run(jiti, file);
    const imported = Object.keys(jiti.cache).filter(
      (path) => !before.has(path) && !/[\\/]node_modules[\\/]/.test(path),
    );
    return { module, files: [...new Set([file, ...imported])] };
  } finally {
    for (const path of Object.keys(jiti.cache)) if (!before.has(path)) ours.add(path);
  }
}

/**
 * As a script, not as a module of the platform's: that one would be kept for the life of the process, whatever becomes of
 * its file. Only what waits at its top level can run in no other way.
 */
async function run(jiti: Jiti, file: string): Promise<unknown> {
  try {
    // eslint-disable-next-line @typescript-eslint/no-deprecated -- the other way keeps modules in JavaScript for ever
    return jiti(file) as unknown;
  } catch (error) {
    if (!waitsAtTopLevel(error)) throw error;
    return await jiti.import(file);
  }
}

function waitsAtTopLevel(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  return error.name === 'SyntaxError' || (error as NodeJS.ErrnoException).code === 'ERR_REQUIRE_ASYNC_MODULE';
}
