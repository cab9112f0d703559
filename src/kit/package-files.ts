/**
 * Where this package is: for its version, the page, and the packages that a user may have installed beside it. Bundled into a program, our modules
 * are in a file of that program: then it is the installed package, if there is one.
 */
import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

const NAME = 'crm-changefeed';
/** Undefined in a bundle of the form of CommonJS. */
const here = (import.meta.url as string | undefined) ?? pathToFileURL(join(process.cwd(), 'bundle.cjs')).href;

export const { resolve } = createRequire(here);

// package.json is next to src/ in a checkout, and next to dist/ in the package.
const beside = ['../..', '../../..'].map((path) => fileURLToPath(new URL(path, here)));
const own = beside.find((folder) => manifestIn(folder)?.name === NAME) ?? null;

export const isBundled = own === null;
/** Null: this package is bundled and not installed. */
export const packageFolder = own ?? installed();

export function packageVersion(): string {
  return (packageFolder === null ? null : manifestIn(packageFolder))?.version ?? 'unknown';
}

function manifestIn(folder: string): { name?: string; version?: string } | null {
  const file = join(folder, 'package.json');
  return existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as { name?: string; version?: string }) : null;
}

function installed(): string | null {
  try {
    return join(resolve(`${NAME}/package.json`), '..');
  } catch {
    return null;
  }
}
