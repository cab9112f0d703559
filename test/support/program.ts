/** The product's programs, which tests run as processes. */
import { readdirSync, statSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const ROOT = new URL('../../', import.meta.url);
const SOURCES = ['src', 'workers'];

/**
 * The program at `path` (`src/cli/main`): the build if it is current, because it starts three times as fast; else the
 * source.
 */
export function program(path: string): URL {
  const built = new URL(`dist/${path}.js`, ROOT);
  const builtAt = statSync(built, { throwIfNoEntry: false })?.mtimeMs ?? 0;
  return builtAt > changedAt() ? built : new URL(`${path}.ts`, ROOT);
}

/** When a source file was last changed, added or removed. */
function changedAt(): number {
  const paths = SOURCES.flatMap((folder) => {
    const path = fileURLToPath(new URL(folder, ROOT));
    return [path, ...readdirSync(path, { recursive: true, encoding: 'utf8' }).map((name) => `${path}/${name}`)];
  });
  return Math.max(...paths.map((path) => statSync(path).mtimeMs));
}
