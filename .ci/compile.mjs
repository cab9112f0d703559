// Compiles a project to a folder, and writes the Lua scripts into the calls that load them: a program that is bundled has no files beside it.
import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));

export function compile(project, folder) {
  rmSync(`${root}${folder}`, { recursive: true, force: true });
  const tsc = [`${root}node_modules/typescript/bin/tsc`, '-p', `${root}${project}`, '--noCheck'];
  execFileSync(process.execPath, tsc, { stdio: 'inherit' });
  inlineScripts(folder);
}

function inlineScripts(folder) {
  const lua = (path, name) => readFileSync(join(root, path, 'lua', `${name}.lua`), 'utf8');
  const files = readdirSync(root + folder, { recursive: true }).filter((file) => file.endsWith('.js'));
  for (const file of files) {
    const text = readFileSync(join(root, folder, file), 'utf8');
    const inlined = text.replace(/loadScript\('([a-z-]+)', import\.meta\.url\)/g, (_call, name) => {
      const source = lua(dirname(file), name).replace(/^--- @include "([a-z-]+)"$/gm, (_line, shared) =>
        lua('src/redis', shared),
      );
      return `loadScript('${name}', '', ${JSON.stringify(source)})`;
    });
    if (inlined !== text) writeFileSync(join(root, folder, file), inlined);
  }
}
