// Builds the package in dist/. `--if-changed`: says that it builds, and does so only where a source is younger than the last build.
import { existsSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { buildPage } from './build-page.mjs';
import { compile } from './compile.mjs';
import { keepPublicTypes } from './public-types.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));
const COMPILED = join(root, 'dist/src/cli/main.js');
/** The last file of a build. */
const LAST = join(root, 'dist/src/ops/server/page/static/index.html');
const SOURCES = ['src', 'workers', 'sandbox', 'page', '.ci', 'package.json', 'tsconfig.json', 'tsconfig.build.json'];

function isCurrent() {
  if (!existsSync(COMPILED) || !existsSync(LAST)) return false;
  const builtMs = statSync(COMPILED).mtimeMs;
  const files = SOURCES.map((path) => join(root, path)).flatMap((path) =>
    statSync(path).isDirectory()
      ? [path, ...readdirSync(path, { recursive: true }).map((name) => join(path, name))]
      : [path],
  );
  return files.every((path) => statSync(path).mtimeMs < builtMs);
}

if (process.argv.includes('--if-changed')) {
  if (isCurrent()) process.exit(0);
  process.stderr.write('Building, about half a minute; the next time it starts at once.\n');
}
compile('tsconfig.build.json', 'dist');
keepPublicTypes(fileURLToPath(new URL('../dist', import.meta.url)), [
  'src/index.d.ts',
  'src/client/index.d.ts',
  'src/testing/index.d.ts',
  'src/testing/kind.d.ts',
]);
await buildPage();
