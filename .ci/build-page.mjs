// Bundles the status page (page/) into the folder from which the server sends it. The names have a digest of the contents, so that
// browsers may keep the files.
import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { basename } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

const root = fileURLToPath(new URL('..', import.meta.url));
const target = `${root}dist/src/server/page/static`;

export async function buildPage() {
  rmSync(target, { recursive: true, force: true });
  mkdirSync(target, { recursive: true });
  const { metafile } = await build({
    entryPoints: { page: `${root}page/main.tsx` },
    outdir: target,
    entryNames: '[name]-[hash]',
    bundle: true,
    minify: true,
    format: 'esm',
    target: ['chrome123', 'firefox120', 'safari17.5'],
    tsconfig: `${root}page/tsconfig.json`,
    legalComments: 'inline',
    metafile: true,
    logLevel: 'warning',
  });
  const built = Object.keys(metafile.outputs).map((path) => basename(path));
  const address = (extension) => `/assets/${built.find((name) => name.endsWith(extension))}`;
  const html = readFileSync(`${root}page/index.html`, 'utf8');
  writeFileSync(`${target}/index.html`, html.replace('{styles}', address('.css')).replace('{script}', address('.js')));
  cpSync(`${root}page/icon.svg`, `${target}/icon.svg`);
}
