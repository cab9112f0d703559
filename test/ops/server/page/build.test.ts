import { readdirSync, readFileSync, writeFileSync, existsSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { buildPage } from '../../../../.ci/build-page.mjs';

const folder = fileURLToPath(new URL('../../../../dist/src/ops/server/page/static', import.meta.url));

it('page build: a server that starts meanwhile finds the page, and all that it loads', async () => {
  await buildPage();
  // A file of an earlier build goes.
  writeFileSync(join(folder, 'page-EARLIER.js'), '');
  let isBuilding = true;
  const builds = Promise.all([buildPage(), buildPage(), buildPage()]).finally(() => (isBuilding = false));
  let looks = 0;
  while (isBuilding) {
    const html = readFileSync(join(folder, 'index.html'), 'utf8');
    const loaded = [...html.matchAll(/\/assets\/([\w.-]+)/g)].map(([, name = '']) => name);
    expect(loaded.length).toBeGreaterThan(1);
    expect(loaded.filter((name) => !existsSync(join(folder, name)))).toEqual([]);
    looks += 1;
    await new Promise(setImmediate);
  }
  await builds;
  expect(looks).toBeGreaterThan(1);
  expect(readdirSync(folder)).not.toContain('page-EARLIER.js');
});
