/** Packages that a user installs only for what needs them: optional peer dependencies of this package. */
import { createRequire } from 'node:module';
import { ChangefeedError } from './errors.js';

const { resolve } = createRequire(import.meta.url);

/** @param needs the beginning of a sentence: `The handler postgres` @throws ChangefeedError CF_CONFIG_INVALID */
export function requireOptionalPackage(name: string, needs: string): void {
  try {
    resolve(name);
  } catch (cause) {
    throw new ChangefeedError('CF_CONFIG_INVALID', {
      message: `${needs} needs the package "${name}". Install it: npm install ${name}`,
      cause,
    });
  }
}
