// Builds the package in dist/.
import { fileURLToPath } from 'node:url';
import { buildPage } from './build-page.mjs';
import { compile } from './compile.mjs';
import { keepPublicTypes } from './public-types.mjs';

compile('tsconfig.build.json', 'dist');
keepPublicTypes(fileURLToPath(new URL('../dist', import.meta.url)), ['src/index.d.ts', 'src/testing/index.d.ts']);
await buildPage();
