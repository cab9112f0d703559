/** The chart and the Kubernetes example: each checked against the API of Kubernetes, and both the same in what they share. */
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Ajv } from 'ajv';
import type { Deployment } from 'kubernetes-types/apps/v1.js';
import type { ConfigMap, Service } from 'kubernetes-types/core/v1.js';
import type { LabelSelector } from 'kubernetes-types/meta/v1.js';
import ts from 'typescript';
import { describe, expect, it } from 'vitest';
import { parse, parseAllDocuments } from 'yaml';
import { ROLES } from '../../workers/all.js';

const root = fileURLToPath(new URL('../../', import.meta.url));
const chart = join(root, 'ops/helm/changefeed');
const read = (path: string): string => readFileSync(join(root, path), 'utf8');

interface Manifest {
  apiVersion: string;
  kind: string;
}
const manifestsOf = (text: string): Manifest[] => parseAllDocuments(text).map((one) => one.toJS() as Manifest);
const kindOf = <T>(manifests: Manifest[], ...kinds: string[]): T[] =>
  manifests.filter(({ kind }) => kinds.includes(kind)) as unknown as T[];

/** What the API of Kubernetes does not know or expects otherwise: its types, generated from it, over the manifests as literals. */
function errorsOf(manifests: Manifest[]): string[] {
  const path = join(root, 'test/ops/manifests.ts');
  const literals = manifests.map((one) => {
    const group = one.apiVersion.includes('/') ? one.apiVersion : `core/${one.apiVersion}`;
    return `${JSON.stringify(one)} satisfies import('kubernetes-types/${group}.js').${one.kind}`;
  });
  const options = { module: ts.ModuleKind.NodeNext, strict: true, noEmit: true, types: [], lib: ['lib.es5.d.ts'] };
  const host = ts.createCompilerHost(options);
  const source = host.getSourceFile.bind(host);
  host.getSourceFile = (name, version) =>
    name === path ? ts.createSourceFile(name, `export default [${literals.join()}];`, version) : source(name, version);
  return ts
    .getPreEmitDiagnostics(ts.createProgram([path], options, host))
    .map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, '\n'));
}

const example = manifestsOf(read('ops/kubernetes.yml'));
const [deployment] = kindOf<Deployment>(example, 'Deployment');
const values = parse(read('ops/helm/changefeed/values.yaml')) as { config: string };
const schema = JSON.parse(read('ops/helm/changefeed/values.schema.json')) as {
  properties: { deployments: { additionalProperties: { properties: { only: { items: { enum: string[] } } } } } };
};

describe('kubernetes: the example', () => {
  it('kubernetes: it has the form of the API of Kubernetes', () => {
    expect(errorsOf(example)).toEqual([]);
  });

  it.each([
    ['an unknown field', 'terminationGracePeriodSeconds', 'terminationGracePeriod', 'terminationGracePeriod'],
    ['another type', 'replicas: 2', "replicas: '2'", "'string' is not assignable to type 'number'"],
    ['a missing field', /selector:\n.*\n {2}template/, 'template', "'selector' is missing"],
  ])('kubernetes: %s is found (control)', (_, from, to, said) => {
    expect(errorsOf(manifestsOf(read('ops/kubernetes.yml').replace(from, to))).join()).toContain(said);
  });
});

describe('chart: its values', () => {
  const accepts = new Ajv({ allowUnionTypes: true }).compile(schema);
  const refused = [
    { deployment: {} },
    { deployments: {} },
    { deployments: { all: { replicas: 2, only: ['work'] } } },
    { config: { workspaces: [] } },
    { port: 80 },
    { image: { repository: 'registry.example/changefeed@sha256:00' } },
    { pod: { securityContext: {} } },
  ];

  it('chart: the defaults are accepted, and have the configuration of the containers', () => {
    expect([accepts(values), accepts.errors]).toEqual([true, null]);
    expect(JSON.parse(values.config)).toEqual(JSON.parse(read('ops/container.config.json')));
    expect(schema.properties.deployments.additionalProperties.properties.only.items.enum).toEqual([...ROLES]);
  });

  it.each(refused.map((one) => [JSON.stringify(one), one] as const))('chart: %s is refused', (_, one) => {
    expect(accepts({ ...values, ...one })).toBe(false);
  });
});

/** `.ci/ensure-helm` puts one there. */
const helm = [join(root, 'node_modules/.bin/helm'), 'helm'].find((one) => spawnSync(one, ['version']).status === 0);

describe.skipIf(helm === undefined)('chart: what Helm renders', () => {
  const IMAGE = ['--set', 'image.repository=registry.example/changefeed'];
  const run = (...args: string[]): { status: number | null; stdout: string; stderr: string } =>
    spawnSync(helm!, [...args], { encoding: 'utf8' });
  const render = (...set: string[]): Manifest[] => {
    const { stdout, stderr } = run('template', 'changefeed', chart, ...IMAGE, ...set.flatMap((one) => ['--set', one]));
    expect(stderr).toBe('');
    return manifestsOf(stdout);
  };
  const FULL = [
    'deployments.all.only={poll,dispatch}',
    'deployments.handle.replicas=3',
    'deployments.handle.only={handle}',
    'serviceMonitor.enabled=true',
    'serviceMonitor.labels.release=prometheus',
    `image.digest=sha256:${'0'.repeat(64)}`,
    'env[0].name=NODE_EXTRA_CA_CERTS',
    'env[0].value=/ca/ca.crt',
    'volumes[0].name=ca',
    'volumes[0].secret.secretName=ca',
    'volumeMounts[0].name=ca',
    'volumeMounts[0].mountPath=/ca',
    'podAnnotations.team=sales',
    'service.annotations.team=sales',
    'pod.priorityClassName=high',
  ];

  it('chart: the defaults are what the example is', () => {
    const rendered = render();
    const [own] = kindOf<Deployment>(rendered, 'Deployment');
    expect(run('lint', '--strict', chart).status).toBe(0);
    const { containers, ...pod } = own!.spec!.template.spec!;
    const { env, imagePullPolicy, ...container } = containers[0]!;
    expect({ ...pod, containers: [container] }).toEqual(deployment!.spec!.template.spec);
    expect(imagePullPolicy).toBe('IfNotPresent');
    expect(env).toEqual([
      { name: 'CHANGEFEED_HTTP_HOST', value: '0.0.0.0' },
      { name: 'CHANGEFEED_HTTP_PORT', value: String(container.ports![0]!.containerPort) },
    ]);
    expect(own!.spec!.replicas).toBe(deployment!.spec!.replicas);
    const shared = (all: Manifest[]): unknown[] => [
      JSON.parse(kindOf<ConfigMap>(all, 'ConfigMap')[0]!.data!['changefeed.config.json']!),
      kindOf<Service>(all, 'Service')[0]!.spec!.ports,
    ];
    expect(shared(rendered)).toEqual(shared(example));
  });

  it.each([
    ['the defaults', []],
    ['every value', FULL],
  ])('chart: with %s it has the form of the API of Kubernetes', (_, set) => {
    // The operator's own kind is not of the API.
    expect(errorsOf(render(...set).filter(({ kind }) => kind !== 'ServiceMonitor'))).toEqual([]);
  });

  it('chart: selectors find what they mean, and nothing else', () => {
    const rendered = render(...FULL);
    const labels = kindOf<Deployment>(rendered, 'Deployment').map(({ spec }) => spec!.template.metadata!.labels!);
    const found = (selector: Record<string, string>, all = labels): boolean[] =>
      all.map((one) => Object.entries(selector).every(([key, value]) => one[key] === value));
    const selectors = kindOf<Deployment>(rendered, 'Deployment').map(({ spec }) => spec!.selector.matchLabels!);
    expect(selectors.map((one) => found(one))).toEqual([
      [true, false],
      [false, true],
    ]);
    const [service] = kindOf<Service>(rendered, 'Service');
    const selecting = service!.spec!.selector!;
    expect(found(selecting)).toEqual([true, true]);
    expect(service!.metadata!.labels).toMatchObject(selecting);
    type Selecting = { spec: { selector: LabelSelector; endpoints?: unknown[] } };
    const others = kindOf<Selecting>(rendered, 'PodDisruptionBudget', 'ServiceMonitor');
    expect(others.map(({ spec }) => spec.selector.matchLabels)).toEqual([selecting, selecting]);
    expect(others.flatMap(({ spec }) => spec.endpoints ?? [])).toMatchObject([
      { port: 'http', path: '/metrics', authorization: { credentials: { key: 'CHANGEFEED_READ_TOKEN' } } },
    ]);
  });

  it.each([
    ['no image', [], /image\.repository is missing/],
    ['a configuration that is not JSON', [...IMAGE, '--set-json', 'config="{a"'], /config is not JSON/],
    ['an option that does not exist', [...IMAGE, '--set', 'replicas=2'], /replicas'? (is )?not allowed/],
  ])('chart: %s is refused', (_, args, said) => {
    expect(run('template', 'changefeed', chart, ...args).stderr).toMatch(said);
  });
});
