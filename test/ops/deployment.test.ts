/** The Dockerfile, the compose files, the systemd unit and the Kubernetes example, held to the code. `.ci/image.mjs` runs the image's steps. */
import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { copyFile, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Deployment } from 'kubernetes-types/apps/v1.js';
import type { ConfigMap } from 'kubernetes-types/core/v1.js';
import { describe, expect, it, onTestFinished } from 'vitest';
import { parse, parseAllDocuments } from 'yaml';
import { withEnvironment } from '../../src/config/env.js';
import { loadConfig } from '../../src/config/load.js';
import { parseConfig } from '../../src/config/parse.js';
import { ROLES } from '../../workers/all.js';
import { parseRedisUrl } from '../../src/redis/client.js';
import { freePort } from '../../src/redis/private/launch.js';
import { probeRedis } from '../../src/redis/probe.js';
import { useCli } from '../support/cli.js';
import { eventually } from '../support/eventually.js';
import { testFolder } from '../support/folder.js';

const root = fileURLToPath(new URL('../../', import.meta.url));
const SYSTEMD_ANALYZE = '/usr/bin/systemd-analyze';
const read = (path: string): Promise<string> => readFile(join(root, path), 'utf8');

interface Service {
  image?: string;
  build?: string;
  command?: string[];
  environment?: Record<string, string>;
  volumes?: string[];
  ports?: string[];
  secrets?: string[];
  profiles?: string[];
  stop_grace_period?: string;
  networks?: string[];
  cap_drop?: string[];
  security_opt?: string[];
  pids_limit?: number;
  mem_limit?: string;
  depends_on?: Record<string, { condition: string }>;
}
interface Compose {
  services: Record<string, Service>;
  secrets: Record<string, { environment: string }>;
  volumes: Record<string, null>;
  networks: Record<string, { internal: boolean }>;
}

const compose = parse(await read('docker-compose.yml'), { merge: true }) as Compose;
const roles = parse(await read('ops/compose.roles.yml'), { merge: true }) as Compose;
const demo = parse(await read('ops/compose.demo.yml'), { merge: true }) as Compose;
const unit = await read('ops/changefeed.service');
const dockerfile = await read('Dockerfile');
const manifests = parseAllDocuments(await read('ops/kubernetes.yml')).map((one) => one.toJS() as { kind: string });
const manifest = (kind: string): unknown => manifests.find((one) => one.kind === kind);
const pod = (manifest('Deployment') as Deployment).spec!.template.spec!;
const container = pod.containers[0]!;
const configMap = manifest('ConfigMap') as ConfigMap;
const stopLimit = Number(/STOP_LIMIT_MS = (\d+)_000/.exec(await read('src/cli/io.ts'))?.[1]);
const usualPort = Number(/USUAL_PORT = (\d+)/.exec(await read('src/service/http.ts'))?.[1]);
const environment = {
  ...compose.services['changefeed']!.environment,
  REDIS_URL: compose.services['changefeed']!.environment!['REDIS_URL']!.replace(
    /\$\{REDIS_PASSWORD[^}]*\}/,
    'redis-password',
  ),
  CHANGEFEED_BASE_URL: 'https://crm.example/api',
  CHANGEFEED_TOKEN: 'a-token',
  CHANGEFEED_READ_TOKEN: '7f1e9a4c02d8b635',
  CHANGEFEED_OPERATE_TOKEN: '536b8d20c4a9e1f7',
  LOG_LEVEL: 'info',
};

const commands = [
  JSON.parse(/^CMD (.*)$/m.exec(dockerfile)![1]!) as string[],
  ...[compose, roles]
    .flatMap(({ services }) => Object.values(services))
    .flatMap(({ build, command }) => (build === undefined && command?.[0] !== 'start' ? [] : [command ?? ['start']])),
  /^ExecStart=\S+\/changefeed (.*)$/m.exec(unit)![1]!.split(' '),
  container.args!,
];

describe('deployment: the files in ops, the Dockerfile and docker-compose.yml', () => {
  const cli = useCli();

  it('deployment: the command line accepts every command, and all roles run', async () => {
    expect(commands).toHaveLength(7);
    const folder = await cli();
    const codeOf = async (args: readonly string[]): Promise<string | undefined> =>
      /\[(CF_\w+)\]/.exec((await folder.call(args)).stderr)?.[1];
    // Without a configuration, a command line that is accepted ends here.
    const different = [...new Set(commands.map((one) => one.join(' ')))].map((one) => one.split(' '));
    expect(await Promise.all(different.map(codeOf))).toEqual(different.map(() => 'CF_CONFIG_INVALID'));
    expect(await codeOf(['start', '--only', 'work'])).toBe('CF_USAGE');
    const apart = Object.values(roles.services).map(({ command }) => command![2]);
    // The configuration of the container serves no mirror.
    expect(apart.toSorted()).toEqual(ROLES.filter((role) => role !== 'serve').toSorted());
  });

  it('deployment: the package has every file that the image and the services are made of', () => {
    const packed = JSON.parse(
      execFileSync('npm', ['pack', '--dry-run', '--json', '--ignore-scripts'], { cwd: root, encoding: 'utf8' }),
    ) as [{ files: { path: string }[] }];
    const files = packed[0].files.map(({ path }) => path);
    const mounted = [compose, roles]
      .flatMap(({ services }) => Object.values(services))
      .flatMap(({ volumes = [] }) => volumes)
      .map((volume) => volume.replace(/^\$\{\w+:-(.*?)\}/, '$1').split(':')[0]!)
      .filter((source) => source.startsWith('./'))
      .map((source) => source.slice(2));
    expect(mounted).toEqual(
      expect.arrayContaining(['ops/prometheus.yml', 'ops/alerts.yml', 'ops/container.config.json']),
    );
    const needed = [
      'Dockerfile',
      'docker-compose.yml',
      'ops/compose.roles.yml',
      'ops/compose.demo.yml',
      'ops/kubernetes.yml',
      'ops/changefeed.service',
      'ops/helm/changefeed/Chart.yaml',
      'ops/helm/changefeed/templates/_names.tpl',
    ];
    expect(files).toEqual(expect.arrayContaining([...needed, ...mounted]));
    const named = Object.keys(compose.volumes);
    const volumes = Object.values(compose.services).flatMap(({ volumes: all = [] }) =>
      all.map((one) => one.split(':')[0]!),
    );
    expect(volumes.filter((one) => /^[a-z-]+$/.test(one)).toSorted()).toEqual(named.toSorted());
  });

  it('deployment: every image of another project is pinned by tag and digest', () => {
    const images = [
      ...[...dockerfile.matchAll(/^FROM (?:--\S+ )?(\S+)/gm)].map(([, image]) => image!),
      ...[...Object.values(compose.services), ...Object.values(demo.services)].flatMap(({ image, build }) =>
        build === undefined ? [image!] : [],
      ),
    ];
    expect(images).toHaveLength(6);
    for (const image of images) expect(image).toMatch(/^[\w./-]+:v?\d+\.\d+\.\d+[\w.-]*@sha256:[0-9a-f]{64}$/);
  });

  it('deployment: every action of a workflow is pinned by its commit', async () => {
    const names = await readdir(join(root, '.github/workflows'));
    const texts = await Promise.all(names.map((name) => read(`.github/workflows/${name}`)));
    const used = texts.flatMap((text) => [...text.matchAll(/uses: (.*)/g)].map(([, action]) => action!));
    expect(used).toHaveLength(11);
    for (const action of used) expect(action).toMatch(/^[\w/-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$/);
  });

  it('deployment: the configuration of the containers is valid with the variables they get', async () => {
    const folder = testFolder();
    await copyFile(join(root, 'ops/container.config.json'), join(folder, 'changefeed.config.json'));
    const { config } = await loadConfig({ cwd: folder, env: environment });
    expect(parseRedisUrl(config.redis.url!).place).toBe('redis:6379');
    expect(config.http).toMatchObject({ host: '0.0.0.0', port: usualPort });
    expect(JSON.parse(configMap.data!['changefeed.config.json']!)).toEqual(
      JSON.parse(await read('ops/container.config.json')),
    );
    for (const service of ['changefeed', 'dispatch', 'handle']) {
      const own = { ...compose.services[service], ...roles.services[service] };
      expect(Object.keys(own.environment!)).toEqual(Object.keys(environment));
      expect(own.volumes).toEqual(compose.services['changefeed']!.volumes);
    }
    const asked = [...(await read('ops/kubernetes.yml')).matchAll(/--from-literal=(\w+)=/g)].map(([, name]) => name);
    expect(asked.toSorted()).toEqual(
      Object.keys(environment)
        .filter((name) => name !== 'LOG_LEVEL')
        .toSorted(),
    );
  });

  it('deployment: the demo needs no variables, and its page is reached by its token at the usual port', async () => {
    expect(await read('ops/compose.demo.yml')).not.toContain('${');
    const { environment: given, ports, command } = demo.services['demo']!;
    expect([command, ports]).toEqual([['demo'], [`127.0.0.1:${usualPort}:${usualPort}`]]);
    const raw = { workspaces: [{ name: 'demo', baseUrl: 'http://crm.example', token: 'a-token' }] };
    expect(parseConfig(withEnvironment(raw, given!)).http).toMatchObject({
      host: '0.0.0.0',
      port: usualPort,
      tokens: { operate: 'token-of-the-demo' },
    });
  });

  it('deployment: the configuration of the containers prints no contents of records', async () => {
    const { subscriptions } = JSON.parse(await read('ops/container.config.json')) as {
      subscriptions: { handler: string; on: string[] }[];
    };
    expect(subscriptions.map(({ handler, on }) => [handler, on])).toEqual([['ndjson', ['changefeed.*']]]);
  });

  it('deployment: no password has a default, and only Changefeed reaches Redis, which asks for one', async () => {
    const services = { ...roles.services, ...compose.services };
    const { redis, grafana } = compose.services;
    const required = /^\$\{\w+:\?.+\}$/;
    expect(grafana!.environment!['GF_SECURITY_ADMIN_PASSWORD']).toMatch(required);
    expect([redis!.environment, redis!.secrets]).toEqual([undefined, ['redis-password']]);
    expect(compose.secrets['redis-password']).toEqual({ environment: 'REDIS_PASSWORD' });
    expect(redis!.ports).toBeUndefined();
    expect(compose.networks).toEqual({ backend: { internal: true } });
    const reach = Object.entries(services).filter(([, { networks }]) => networks?.includes('backend'));
    expect(reach.map(([name]) => name).toSorted()).toEqual(['changefeed', 'dispatch', 'handle', 'redis']);
    expect(redis!.networks).toEqual(['backend']);
    const asked = [...(await read('docs/guides/deploy.md')).matchAll(/^(\w+)=…$/gm)].map(([, name]) => name);
    const variables = [...(await read('docker-compose.yml')).matchAll(/\$\{(\w+):\?/g)].map(([, name]) => name);
    expect(asked).toEqual(expect.arrayContaining(variables.filter((name) => name !== 'CHANGEFEED_BASE_URL')));
  });

  it('deployment: the password of Redis is no argument, and is asked for', async () => {
    const dir = testFolder();
    await writeFile(join(dir, 'password'), 'of-the-secret');
    const port = await freePort();
    const [shell = '', ...args] = compose.services['redis']!.command!.map((one) =>
      one
        .replaceAll('$$', '$')
        .replace('/run/secrets/redis-password', join(dir, 'password'))
        .replace('redis-server -', `redis-server - --port ${port} --dir ${dir}`),
    );
    const server = spawn(shell, args, { stdio: 'ignore' });
    onTestFinished(() => void server.kill());
    await eventually(async () => expect(await probeRedis(`redis://:of-the-secret@127.0.0.1:${port}`)).toBeNull());
    expect(String(await probeRedis(`redis://127.0.0.1:${port}`))).toContain('NOAUTH');
    // The shell has become the server, so it gets the signals.
    const shown = await readFile(`/proc/${server.pid}/cmdline`, 'utf8').catch(() => 'redis-server');
    expect(shown).toMatch(/^redis-server(?!.*of-the-secret)/);
  });

  it('deployment: every container is restricted and limited', () => {
    const own = [compose, demo].flatMap(({ services }) => Object.values(services));
    const all = [...own, roles.services['dispatch']!, roles.services['handle']!];
    expect(all).toHaveLength(8);
    for (const service of all) {
      expect(service).toMatchObject({ cap_drop: ['ALL'], security_opt: ['no-new-privileges:true'], pids_limit: 200 });
      expect(service.mem_limit).toMatch(/^\d+[mg]$/);
    }
  });

  it.each(['pg', 'nodemailer'])('deployment: the image has the locked version of %s', async (name) => {
    const { packages } = JSON.parse(await read('package-lock.json')) as {
      packages: Record<string, { version: string }>;
    };
    const { peerDependencies } = JSON.parse(await read('package.json')) as { peerDependencies: Record<string, string> };
    expect(peerDependencies[name]).toBe(`^${packages[`node_modules/${name}`]!.version}`);
    const version = `$(node -p "require('./package.json').peerDependencies.${name}.replace('^', '')")`;
    expect(dockerfile).toContain(`"${name}@${version}"`);
  });

  it('deployment: every supervisor waits longer than a stop takes', () => {
    const graces = [
      ...[compose, roles]
        .flatMap(({ services }) => Object.values(services))
        .flatMap(({ stop_grace_period: grace }) => (grace === undefined ? [] : [Number(/^(\d+)s$/.exec(grace)?.[1])])),
      Number(/^TimeoutStopSec=(\d+)$/m.exec(unit)?.[1]),
      pod.terminationGracePeriodSeconds!,
    ];
    expect(graces).toHaveLength(5);
    expect(Math.min(...graces)).toBeGreaterThan(stopLimit);
  });

  it('deployment: probes, ports and scrapes use addresses that are served', async () => {
    const routes = await read('src/ops/server/monitoring/routes.ts');
    const paths = [container.livenessProbe, container.readinessProbe].map((probe) => probe!.httpGet!.path);
    expect(paths).toEqual(['/healthz', '/readyz']);
    for (const path of [...paths, '/metrics']) expect(routes).toContain(`'${path}'`);
    expect(dockerfile).toContain(`http://127.0.0.1:\${process.env.CHANGEFEED_HTTP_PORT || ${usualPort}}/healthz`);
    expect(dockerfile).toMatch(new RegExp(`^EXPOSE ${usualPort}$`, 'm'));
    expect(container.ports).toEqual([{ name: 'http', containerPort: usualPort }]);
    expect(compose.services['changefeed']!.ports).toEqual([`127.0.0.1:${usualPort}:${usualPort}`]);
    const prometheus = parse(await read('ops/prometheus.yml')) as {
      rule_files: string[];
      scrape_configs: {
        authorization: { credentials_file: string };
        dns_sd_configs: { names: string[]; port: number }[];
      }[];
    };
    const [scrape] = prometheus.scrape_configs;
    expect(scrape!.dns_sd_configs).toEqual([{ names: Object.keys(roles.services), type: 'A', port: usualPort }]);
    const [secret] = compose.services['prometheus']!.secrets!;
    expect(scrape!.authorization.credentials_file).toBe(`/run/secrets/${secret}`);
    expect(compose.secrets[secret!]).toEqual({ environment: 'CHANGEFEED_READ_TOKEN' });
    const mounts = (service: string): string[] => compose.services[service]!.volumes!.map((one) => one.split(':')[1]!);
    expect(mounts('prometheus')).toContain(`/etc/prometheus/${prometheus.rule_files[0]}`);
    const { providers } = parse(await read('ops/grafana-dashboards.yml')) as {
      providers: { options: { path: string } }[];
    };
    expect(mounts('grafana')).toContain(`${providers[0]!.options.path}/changefeed.json`);
  });

  it('deployment: references inside the Kubernetes example lead somewhere', () => {
    expect(container.envFrom).toEqual([{ secretRef: { name: 'changefeed' } }]);
    const volumes = new Set(pod.volumes!.map(({ name }) => name));
    expect(container.volumeMounts!.map(({ name }) => volumes.has(name))).toEqual([true, true]);
    expect(pod.volumes!.find((one) => one.configMap !== undefined)?.configMap?.name).toBe(configMap.metadata!.name);
  });

  it.skipIf(!existsSync(SYSTEMD_ANALYZE))('deployment: systemd accepts the unit', async () => {
    const folder = testFolder();
    const path = join(folder, 'changefeed.service');
    const verify = async (text: string): Promise<string> => {
      await writeFile(path, text.replace(/^(ExecStart)=\S+/m, '$1=/bin/true').replace(/^User=.*$/m, ''));
      const { stdout, stderr } = spawnSync(SYSTEMD_ANALYZE, ['verify', '--man=no', path], { encoding: 'utf8' });
      return (stdout + stderr)
        .split('\n')
        .filter((line) => line.includes('changefeed.service'))
        .join('\n');
    };
    expect(await verify(unit)).toBe('');
    // It would complain.
    expect(await verify(unit.replace('KillMode=mixed', 'KillMod=mixed'))).toContain('KillMod');
  });
});
