// Compiles a project to a folder and copies the files of src/ that the compiler ignores (Lua scripts, templates) next to the code that reads them.
import { execFileSync } from 'node:child_process';
import { cpSync, rmSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));

export function compile(project, folder) {
  rmSync(`${root}${folder}`, { recursive: true, force: true });
  const tsc = [`${root}node_modules/typescript/bin/tsc`, '-p', `${root}${project}`, '--noCheck'];
  execFileSync(process.execPath, tsc, { stdio: 'inherit' });
  cpSync(`${root}src`, `${root}${folder}/src`, { recursive: true, filter: (path) => !/\.[cm]?tsx?$/.test(path) });
}
