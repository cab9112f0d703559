/** Packages that a user installs only for what needs them: optional peer dependencies of this package. */
import { ChangefeedError } from './errors.js';
import { resolve } from './package-files.js';

/**
 * @param needs the beginning of a sentence: `The handler postgres`
 * @param module one of the package. @defaultValue the package itself
 * @throws ChangefeedError CF_CONFIG_INVALID
 */
export function requireOptionalPackage(name: string, needs: string, module = name): void {
  try {
    resolve(module);
  } catch (cause) {
    throw new ChangefeedError('CF_CONFIG_INVALID', {
      message: `${needs} needs the package "${name}". Install it: npm install ${name}`,
      cause,
    });
  }
}

/** By a variable: a bundler then leaves it to the process, and does not fail where it is not installed. */
export async function importOptionalPackage<Module>(name: string): Promise<Module> {
  return (await import(/* webpackIgnore: true */ /* @vite-ignore */ name)) as Module;
}
