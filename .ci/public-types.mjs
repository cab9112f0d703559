// Removes the declarations that no user can import: the package exports two entries, and the compiler writes a declaration for each file.
import { readdirSync, readFileSync, rmSync } from 'node:fs';
import { dirname, resolve } from 'node:path';

/** `from './x.js'`, `import './x.js'` and `import("./x.js")`. */
const IMPORT = /(?:from|import)\s*\(?\s*['"](\.[^'"]+)\.js['"]/g;

export function keepPublicTypes(folder, entries) {
  const reachable = new Set();
  const visit = (file) => {
    if (reachable.has(file)) return;
    reachable.add(file);
    for (const [, imported] of readFileSync(file, 'utf8').matchAll(IMPORT))
      visit(resolve(dirname(file), `${imported}.d.ts`));
  };
  for (const entry of entries) visit(resolve(folder, entry));
  for (const name of readdirSync(folder, { recursive: true })) {
    const file = resolve(folder, name);
    if (file.endsWith('.d.ts') && !reachable.has(file)) rmSync(file);
  }
}
