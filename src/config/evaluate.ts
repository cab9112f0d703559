/** Runs a configuration in code; after a change, runs it again together with the files it imports. */
import { createJiti, type Jiti } from 'jiti';

export interface Evaluated {
  module: unknown;
  /** The file and all files it imports, without installed packages. */
  files: string[];
}

/** Modules loaded for configurations. Only these are loaded again; others of the process keep their instances. */
const loaded = new Set<string>();

/** @param library this module instance: errors of handlers are recognised, and no node_modules are needed */
export async function evaluate(file: string, library: object): Promise<Evaluated> {
  const jiti = createJiti(file, { virtualModules: { 'crm-changefeed': library }, fsCache: false });
  for (const path of loaded) Reflect.deleteProperty(jiti.cache, path);
  const before = new Set(Object.keys(jiti.cache));
  try {
    const module = withDefault(await run(jiti, file));
    const imported = Object.keys(jiti.cache).filter(
      (path) => !before.has(path) && !/[\\/]node_modules[\\/]/.test(path),
    );
    return { module, files: [...new Set([file, ...imported])] };
  } finally {
    for (const path of Object.keys(jiti.cache)) if (!before.has(path)) loaded.add(path);
  }
}

/** As a script: Node keeps an ES module for good, so a changed file would not be read again. */
async function run(jiti: Jiti, file: string): Promise<unknown> {
  try {
    // eslint-disable-next-line @typescript-eslint/no-deprecated -- import() keeps modules for the life of the process
    return jiti(file) as unknown;
  } catch (error) {
    if (!waitsAtTopLevel(error)) throw error;
    return await jiti.import(file);
  }
}

/** CommonJS assigns the default export to `module.exports`. A compiled ES module is marked by `__esModule`. */
function withDefault(module: unknown): unknown {
  if (typeof module !== 'object' || module === null || 'default' in module || '__esModule' in module) return module;
  return Object.keys(module).length === 0 ? module : { default: module };
}

function waitsAtTopLevel(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  return error.name === 'SyntaxError' || (error as NodeJS.ErrnoException).code === 'ERR_REQUIRE_ASYNC_MODULE';
}
