import { readdirSync, readFileSync, writeFileSync, existsSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gunzipSync } from 'node:zlib';
import { fastify } from 'fastify';
import { expect, it } from 'vitest';
import { assetRoutes } from '../../../../src/ops/server/page/assets.js';
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

it('page build: script and styles are compressed, and sent so to who takes it', async () => {
  await buildPage();
  const app = fastify();
  assetRoutes(app);
  const [script = ''] = readdirSync(folder).filter((name) => name.endsWith('.js'));
  const asked = (encoding: string) =>
    app.inject({ url: `/assets/${script}`, headers: { 'accept-encoding': encoding } });
  const [packed, plain, refused] = await Promise.all([asked('br, gzip'), asked(''), asked('gzip;q=0')]);
  expect(packed.headers).toMatchObject({ 'content-encoding': 'gzip', vary: 'accept-encoding' });
  expect(gunzipSync(packed.rawPayload)).toEqual(plain.rawPayload);
  expect(packed.rawPayload.length).toBeLessThan(100_000);
  expect([plain, refused].map(({ headers }) => headers['content-encoding'])).toEqual([undefined, undefined]);
  await app.close();
});
