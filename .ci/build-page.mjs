// Bundles the status page (page/) into the folder from which the server sends it. The names have a digest of the contents, so that
// browsers may keep the files. Servers start, and packages are packed, while it builds: a file appears whole, the page after what it loads, and
// a build of the same sources changes nothing.
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { basename } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { build } from 'esbuild';

const root = fileURLToPath(new URL('..', import.meta.url));
const target = `${root}dist/src/ops/server/page/static`;

export async function buildPage() {
  mkdirSync(target, { recursive: true });
  const { metafile, outputFiles } = await build({
    entryPoints: { page: `${root}page/main.tsx` },
    outdir: target,
    entryNames: '[name]-[hash]',
    // What is loaded later, such as the plots, is beside the script.
    splitting: true,
    chunkNames: '[name]-[hash]',
    bundle: true,
    minify: true,
    format: 'esm',
    target: ['chrome123', 'firefox120', 'safari17.5'],
    tsconfig: `${root}page/tsconfig.json`,
    legalComments: 'inline',
    metafile: true,
    write: false,
    logLevel: 'warning',
  });
  putFile(`${root}dist/THIRD-PARTY-NOTICES`, noticesOf(Object.keys(metafile.inputs)));
  const built = outputFiles.map(({ path }) => basename(path));
  const address = (extension) =>
    `./assets/${built.find((name) => name.startsWith('page-') && name.endsWith(extension))}`;
  const html = readFileSync(`${root}page/index.html`, 'utf8');
  for (const { path, contents } of outputFiles) {
    putFile(path, contents);
    // Not Brotli: browsers ask for it over TLS only, and the page is often without.
    putFile(`${path}.gz`, gzipSync(contents, { level: 9 }));
  }
  putFile(`${target}/icon.svg`, readFileSync(`${root}page/icon.svg`));
  putFile(`${target}/index.html`, html.replace('{styles}', address('.css')).replace('{script}', address('.js')));
  const present = new Set([...built, ...built.map((name) => `${name}.gz`), 'icon.svg', 'index.html']);
  for (const name of readdirSync(target))
    if (!present.has(name) && !name.endsWith(UNFINISHED)) rmSync(`${target}/${name}`, { force: true });
}

const UNFINISHED = '.unfinished';

function putFile(path, contents) {
  if (existsSync(path) && readFileSync(path).equals(Buffer.from(contents))) return;
  const unfinished = `${path}.${process.pid}${UNFINISHED}`;
  writeFileSync(unfinished, contents);
  renameSync(unfinished, path);
}

// The bundle is minified and carries no notices of what it contains.
function noticesOf(files) {
  const folders = new Set(
    files.flatMap((file) => /^(?:\.\.\/)*.*node_modules\/(?:@[^/]+\/)?[^/]+/.exec(file)?.[0] ?? []),
  );
  const notices = [...folders].sort().map((folder) => {
    const { name, version, license } = JSON.parse(readFileSync(`${folder}/package.json`, 'utf8'));
    const [text] = readdirSync(folder).filter((file) => /^licen[sc]e(\.|$)/i.test(file));
    return `${name} ${version} (${license})\n\n${readFileSync(`${folder}/${text}`, 'utf8').trim()}\n`;
  });
  return `The status page (dist/src/ops/server/page/static) contains:\n\n${notices.join(`\n${'-'.repeat(80)}\n\n`)}`;
}
