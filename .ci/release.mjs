// Says what is missing before the tag `node .ci/release.mjs vX.Y.Z` can be published, one line each. It needs no installed package: the workflow
// asks it first. IMAGE names the image to push, without a tag.
import { readFileSync } from 'node:fs';

const [tag = ''] = process.argv.slice(2);
const { version, repository } = JSON.parse(readFileSync('package.json', 'utf8'));
const [, released, date] = /^## (\S+) \((.*)\)$/m.exec(readFileSync('CHANGELOG.md', 'utf8')) ?? [];
const chart = readFileSync('ops/helm/changefeed/Chart.yaml', 'utf8');
const url = typeof repository === 'string' ? repository : repository?.url;
const { GITHUB_REPOSITORY: hosted, IMAGE: image } = process.env;

const missing = [
  tag !== `v${version}` && `The tag is "${tag}", and the version in package.json ${version}: they have to be the same.`,
  (released !== version || !/^20\d\d-\d\d-\d\d$/.test(date)) &&
    `CHANGELOG.md begins with "${released} (${date})": its first heading has to be "## ${version} (YYYY-MM-DD)".`,
  ...['version', 'appVersion'].map(
    (key) =>
      !new RegExp(`^${key}: '?${version.replaceAll('.', '\\.')}'?$`, 'm').test(chart) &&
      `ops/helm/changefeed/Chart.yaml has another ${key} than ${version}.`,
  ),
  url === undefined &&
    'package.json has no repository, which npm compares with the provenance: npm pkg set repository.type=git repository.url=git+<address of the repository>.git',
  url !== undefined &&
    hosted !== undefined &&
    !url.replace(/\.git$/, '').endsWith(`/${hosted}`) &&
    `package.json has the repository ${url}, and this workflow runs in ${hosted}: npm refuses the provenance.`,
  !image && 'The variable IMAGE is missing: gh variable set IMAGE --body <registry>/<owner>/changefeed',
].filter((one) => one !== false);

for (const one of missing) process.stderr.write(`${one}\n`);
process.exitCode = missing.length === 0 ? 0 : 1;
