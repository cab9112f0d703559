/** What a release is made by: the workflows, read as what they are, and `.ci/release.mjs`, which says what is missing before one. */
import { spawnSync } from 'node:child_process';
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { testFolder } from '../support/folder.js';

const root = fileURLToPath(new URL('../../', import.meta.url));
const read = (path: string): Promise<string> => readFile(join(root, path), 'utf8');

interface Step {
  uses?: string;
  run?: string;
  with?: Record<string, unknown>;
  env?: Record<string, string>;
}
interface Workflow {
  on: Record<string, unknown>;
  permissions: Record<string, string>;
  jobs: Record<string, { needs?: string; environment?: string; permissions?: Record<string, string>; steps: Step[] }>;
}

const names = await readdir(join(root, '.github/workflows'));
const texts = new Map(
  await Promise.all(names.map(async (name) => [name, await read(`.github/workflows/${name}`)] as const)),
);
const workflow = (name: string): Workflow => parse(texts.get(name)!) as Workflow;
const { version } = JSON.parse(await read('package.json')) as { version: string };

describe('release: the workflows', () => {
  it.each(names)('release: %s has the rights it needs, and runs nothing that a stranger wrote', (name) => {
    const { on, permissions, jobs } = workflow(name);
    expect(permissions).toEqual({ contents: 'read' });
    expect(Object.keys(on)).not.toContain('pull_request_target');
    expect(texts.get(name)).not.toMatch(/secrets\.|--build-arg|build-args/);
    for (const { steps } of Object.values(jobs)) {
      for (const { uses, run = '', with: given } of steps) {
        // An expression is put into the script as text: only what stands in the file itself may be.
        expect(run.replace('${{ matrix.run }}', '')).not.toContain('${{');
        if (uses?.startsWith('actions/checkout@') === true) expect(given).toEqual({ 'persist-credentials': false });
      }
    }
  });

  it('release: only a tag publishes, in order, and each job may do no more than its part', () => {
    const { on, jobs } = workflow('release.yml');
    expect(on).toEqual({ push: { tags: ['v*.*.*'] } });
    expect(
      Object.entries(jobs).map(([name, { needs, environment, permissions }]) => [
        name,
        needs,
        environment,
        permissions,
      ]),
    ).toEqual([
      ['pack', undefined, undefined, undefined],
      ['publish', 'pack', 'npm', { 'id-token': 'write' }],
      ['image', 'publish', undefined, { contents: 'read', packages: 'write', 'id-token': 'write' }],
    ]);
  });

  it('release: what is published is the tarball that was tested, and nothing else runs where it is', async () => {
    const { pack, publish } = workflow('release.yml').jobs;
    expect(pack!.steps.flatMap(({ run = [] }) => run)).toEqual([
      'node .ci/release.mjs "$GITHUB_REF_NAME"',
      '.ci/run packed',
    ]);
    const upload = pack!.steps.at(-1)!;
    expect(upload.uses).toMatch(/^actions\/upload-artifact@/);
    expect(upload.with!['path']).toBe('packed/crm-changefeed-*.tgz');
    expect(publish!.steps.map(({ uses, run }) => run ?? uses!.replace(/@.*/, ''))).toEqual([
      'actions/setup-node',
      'actions/download-artifact',
      'npm publish ./crm-changefeed-*.tgz --ignore-scripts --provenance --access public',
    ]);
    expect(publish!.steps[1]!.with!['name']).toBe(upload.with!['name']);
    expect(await read('.ci/run')).toContain('npm ci --ignore-scripts ');
    expect((await read('.ci/package')).match(/^npm pack .*--ignore-scripts/gm)).toHaveLength(1);
  });

  it('release: the image is for both platforms, with its contents and origin, and signed by digest', async () => {
    const runs = workflow('release.yml').jobs['image']!.steps.flatMap(({ run = [] }) => run);
    const build = runs.find((run) => run.startsWith('docker buildx build'))!;
    for (const one of ['--platform linux/amd64,linux/arm64', '--sbom=true', '--provenance=mode=max', '--push'])
      expect(build).toContain(one);
    expect(runs.at(-1)).toMatch(/^cosign sign --yes --recursive "\$IMAGE@\$\(jq -er .*containerimage\.digest/);
    // What is built on one platform for all must not depend on it.
    expect(await read('Dockerfile')).toMatch(/^FROM --platform=\$BUILDPLATFORM \S+ AS build$/m);
    const last = (await read('Dockerfile')).split(/^FROM /m).at(-1)!;
    expect(last).not.toMatch(/^RUN /m);
    const { packages } = JSON.parse(await read('package-lock.json')) as { packages: Record<string, Locked> };
    const bound = Object.entries(packages).filter(
      ([, one]) =>
        one.dev !== true && one.optional !== true && (one.cpu ?? one.os ?? one.hasInstallScript) !== undefined,
    );
    expect(bound).toEqual([]);
  });
});

interface Locked {
  dev?: boolean;
  optional?: boolean;
  cpu?: string[];
  os?: string[];
  hasInstallScript?: boolean;
}

describe('release: what is missing before one', () => {
  const GOOD = {
    'package.json': '{ "version": "1.2.0", "repository": { "url": "git+https://git.example/crm/feed.git" } }',
    'CHANGELOG.md': '# Changelog\n\n## 1.2.0 (2027-01-31)\n\n## 1.1.0 (2026-12-24)\n',
    'ops/helm/changefeed/Chart.yaml': "version: 1.2.0\nappVersion: '1.2.0'\n",
  };
  const ENV = { GITHUB_REPOSITORY: 'crm/feed', IMAGE: 'registry.example/crm/changefeed' };
  const ask = async (files: Record<string, string>, env: Record<string, string>, tag = 'v1.2.0'): Promise<string> => {
    const folder = testFolder();
    for (const [path, text] of Object.entries({ ...GOOD, ...files })) {
      await mkdir(dirname(join(folder, path)), { recursive: true });
      await writeFile(join(folder, path), text);
    }
    const all = { PATH: process.env['PATH']!, ...ENV, ...env };
    const script = join(root, '.ci/release.mjs');
    const { status, stderr } = spawnSync(process.execPath, [script, tag], { cwd: folder, env: all, encoding: 'utf8' });
    expect(status).toBe(stderr === '' ? 0 : 1);
    return stderr;
  };

  it.each([
    ['nothing', {}, {}, 'v1.2.0', /^$/],
    ['the tag of another version', {}, {}, 'v1.3.0', /^The tag is "v1\.3\.0", .*\n$/],
    [
      'a changelog without a date',
      { 'CHANGELOG.md': '## 1.2.0 (not released yet)\n' },
      {},
      'v1.2.0',
      /^CHANGELOG.*\n$/,
    ],
    ['a changelog of the last version', { 'CHANGELOG.md': '## 1.1.0 (2026-12-24)\n' }, {}, 'v1.2.0', /^CHANGELOG.*\n$/],
    [
      'a chart of the last version',
      { 'ops/helm/changefeed/Chart.yaml': "version: 1.2.0\nappVersion: '1.1.0'\n" },
      {},
      'v1.2.0',
      /^ops\/helm.* another appVersion .*\n$/,
    ],
    [
      'no repository',
      { 'package.json': '{ "version": "1.2.0" }' },
      {},
      'v1.2.0',
      /npm pkg set repository\.type=git .*\n$/,
    ],
    ['a fork', {}, { GITHUB_REPOSITORY: 'else/feed' }, 'v1.2.0', /^package\.json has the repository .*\n$/],
    ['no image', {}, { IMAGE: '' }, 'v1.2.0', /gh variable set IMAGE .*\n$/],
  ])('release: it says of %s', async (_, files, env, tag, said) => {
    expect(await ask(files, env, tag)).toMatch(said);
  });

  it.each([
    ['CHANGELOG.md', (text: string) => /^## (\S+) /m.exec(text)],
    ['README.md', (text: string) => /^Version (\d\S+),/m.exec(text)],
    ['README.ko.md', (text: string) => /^버전은 (\d+\.\d+\.\d+)/m.exec(text)],
    ['docs/index.md', (text: string) => /^These pages are of version (\d\S+)[,.] /m.exec(text)],
    ['ops/kubernetes.yml', (text: string) => /image: \S+:(\S+)$/m.exec(text)],
    ['ops/helm/changefeed/Chart.yaml', (text: string) => /^version: (\S+)$/m.exec(text)],
    ['ops/helm/changefeed/Chart.yaml', (text: string) => /^appVersion: '(\S+)'$/m.exec(text)],
  ])('release: %s is of the version of the package', async (path, versionIn) => {
    expect(versionIn(await read(path))?.[1]).toBe(version);
  });
});
