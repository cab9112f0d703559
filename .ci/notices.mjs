// Writes THIRD-PARTY-NOTICES: what is installed with the package, and under which license. `--check` only compares.
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const FILE = `${root}THIRD-PARTY-NOTICES`;
/** Licenses that ask for no more than their text, which each package brings along. */
const ALLOWED = [
  '0BSD',
  'Apache-2.0',
  'BSD-2-Clause',
  'BSD-3-Clause',
  'BlueOak-1.0.0',
  'ISC',
  'MIT',
  '(MIT OR CC0-1.0)',
  'Unlicense',
];

const { packages } = JSON.parse(readFileSync(`${root}package-lock.json`, 'utf8'));
const installed = Object.entries(packages).filter(
  ([path, { dev, devOptional, optional, peer }]) => path !== '' && !(dev || devOptional || optional || peer),
);
const lines = installed.map(([path, { version, license }]) => {
  const name = path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length);
  if (!ALLOWED.includes(license)) throw new Error(`${name} ${version} has the license ${license}: may it be shipped?`);
  return `${name} ${version} (${license})`;
});
const text = `These packages are installed with crm-changefeed. Each brings the text of its license along.
What the status page contains is in dist/THIRD-PARTY-NOTICES, with the texts.

${[...new Set(lines)].sort().join('\n')}
`;

if (!process.argv.includes('--check')) writeFileSync(FILE, text);
else if (readFileSync(FILE, 'utf8') !== text) {
  process.stderr.write('THIRD-PARTY-NOTICES is not current: node .ci/notices.mjs writes it.\n');
  process.exitCode = 1;
}
