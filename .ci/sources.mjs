// Two rules of the text of the project. A path that a comment or a document names exists, so that a moved file takes its mentions with it. And
// source, page and tests stay under a ceiling of lines.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

/** Raised only by a commit whose body names what went, or why nothing could. */
const CEILINGS = [
  { folders: ['src', 'workers'], endings: /\.(ts|lua)$/, most: 62_050 },
  { folders: ['page'], endings: /\.(ts|tsx|css)$/, most: 9_650 },
  { folders: ['test'], endings: /\.ts$/, most: 55_900 },
];

const COMMENT = /^\s*\/\*[\s\S]*?\*\/|^\s*--\[\[[\s\S]*?\]\]|(?<=^|\s)(\/\/|--) .*$/gm;
const FENCED = /^ *```[\s\S]*?^ *```/gm;
const URL = /\b[a-z+]+:\/\/\S+/g;
/**
 * A token with a slash that ends as a file of the project does. What begins with `/`, `./` or the name of the package belongs to the reader: an
 * address, a file of theirs, what they import.
 */
const PATH =
  /(?<![\w.@/*<>{}$…~-])(?!\.\/|crm-changefeed\/)[\w.@-]+(?:\/[\w.@-]+)+\.(?:ts|lua|md|mjs|json)\b(?![\w*/<-])/g;

function filesIn(folder, endings) {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && endings.test(entry.name))
    .map((entry) => join(entry.parentPath, entry.name))
    .filter((file) => !file.includes('node_modules/'));
}

/** It is looked for from the root, from `src`, and from the folder of the file and each one above. */
function exists(path, file) {
  const folders = ['.', 'src'];
  for (let folder = dirname(file); folder !== '.'; folder = dirname(folder)) folders.push(folder);
  return folders.some((folder) => existsSync(join(folder, path)));
}

function wrongPaths(file) {
  const text = readFileSync(file, 'utf8');
  const prose = file.endsWith('.md') ? text.replace(FENCED, '') : (text.match(COMMENT) ?? []).join('\n');
  const named = new Set(prose.replace(URL, '').match(PATH) ?? []);
  return [...named].filter((path) => !exists(path, file)).map((path) => `${file} names ${path}, which does not exist.`);
}

function exceeded({ folders, endings, most }) {
  const files = folders.flatMap((folder) => filesIn(folder, endings));
  const lines = files.reduce((sum, file) => sum + readFileSync(file, 'utf8').split('\n').length - 1, 0);
  if (lines <= most) return [];
  const by = `${folders.join(' and ')}: ${lines} lines, ${lines - most} more than the ceiling of ${most}.`;
  return [`${by} It is raised only by a commit whose body names what went, or why nothing could (.ci/sources.mjs).`];
}

const code = ['src', 'workers', 'page', 'test'].flatMap((folder) => filesIn(folder, /\.(ts|tsx|lua)$/));
const documents = readdirSync('.').filter((name) => /^(CONTRIBUTING|README.*)\.md$/.test(name));
const wrong = [
  ...[...code, ...documents, ...filesIn('docs', /\.md$/)].flatMap(wrongPaths),
  ...CEILINGS.flatMap(exceeded),
];
for (const one of wrong) process.stderr.write(`${one}\n`);
process.exitCode = wrong.length === 0 ? 0 : 1;
