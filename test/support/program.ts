/** The programs that tests run as processes: from the build if it is current, because it starts three times as fast; else from the source. */
import { mkdirSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { basename } from 'node:path';
import { fileURLToPath } from 'node:url';
import { buildSync } from 'esbuild';

const ROOT = new URL('../../', import.meta.url);
const SOURCES = ['src', 'workers'];
const COMPILED = new URL('node_modules/.cache/changefeed/', ROOT);

export function program(path: string): URL {
  const built = new URL(`dist/${path}.js`, ROOT);
  return isCurrent(built) ? built : new URL(`${path}.ts`, ROOT);
}

const children = new Map<string, string>();

/** A script of the tests. It must be in `test/<folder>/`. */
export function child(script: string): string {
  const known = children.get(script);
  if (known !== undefined) return known;
  const prepared = isCurrent(new URL('dist/src/index.js', ROOT)) ? compiled(script) : script;
  children.set(script, prepared);
  return prepared;
}

/** Compiles the script and the helpers it imports. What it imports from the product is the build. */
function compiled(script: string): string {
  const { outputFiles } = buildSync({
    entryPoints: [script],
    bundle: true,
    write: false,
    packages: 'external',
    external: ['../../src/*'],
    platform: 'node',
    format: 'esm',
    target: 'node20',
  });
  const source = outputFiles[0]?.text.replaceAll('"../../src/', `"${new URL('dist/src/', ROOT).href}`) ?? '';
  mkdirSync(COMPILED, { recursive: true });
  // A name per process: several workers may compile the same script at the same time.
  const path = fileURLToPath(new URL(`${basename(script, '.ts')}-${process.pid}.mjs`, COMPILED));
  writeFileSync(path, source);
  return path;
}

function isCurrent(built: URL): boolean {
  const builtAt = statSync(built, { throwIfNoEntry: false })?.mtimeMs ?? 0;
  return builtAt > changedAt();
}

/** When a source file was last changed, added or removed. */
function changedAt(): number {
  const paths = SOURCES.flatMap((folder) => {
    const path = fileURLToPath(new URL(folder, ROOT));
    return [path, ...readdirSync(path, { recursive: true, encoding: 'utf8' }).map((name) => `${path}/${name}`)];
  });
  return Math.max(...paths.map((path) => statSync(path).mtimeMs));
}
