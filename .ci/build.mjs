// Compiles to dist/ and copies the files that the compiler ignores (Lua scripts, templates) next to the code that reads them.
import { execFileSync } from 'node:child_process';
import { cpSync, rmSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { buildPage } from './build-page.mjs';
import { keepPublicTypes } from './public-types.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));
rmSync(`${root}dist`, { recursive: true, force: true });
execFileSync(
  process.execPath,
  [`${root}node_modules/typescript/bin/tsc`, '-p', `${root}tsconfig.build.json`, '--noCheck'],
  {
    stdio: 'inherit',
  },
);
keepPublicTypes(`${root}dist`, 'src/index.d.ts');
cpSync(`${root}src`, `${root}dist/src`, {
  recursive: true,
  filter: (path) => !/\.[cm]?tsx?$/.test(path),
});
await buildPage();
