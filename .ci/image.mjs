// Runs the steps of the Dockerfile in plain folders, without an engine, every night: from the packed package (`package`), or from a clone (`clone`).
// Then starts what would be the image with the Redis and the configuration of docker-compose.yml against a sandbox, runs its health check, and
// stops it. What needs an engine is not checked: the base image (musl instead of glibc), its user, and the networks of compose.
import assert from 'node:assert/strict';
import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { parse } from 'yaml';

const root = fileURLToPath(new URL('..', import.meta.url));
const work = mkdtempSync(join(tmpdir(), 'changefeed-image-'));
const running = [];
try {
  if (!existsSync(join(root, 'dist'))) execFileSync('npm', ['run', '--silent', 'build'], { cwd: root });
  const [name] = process.argv.slice(2);
  assert.ok(name === 'clone' || name === 'package', 'the argument is "clone" or "package"');
  const context = name === 'clone' ? contextOfClone() : contextOfPackage();
  await tryOut(build(readFileSync(join(context, 'Dockerfile'), 'utf8'), context, join(work, 'image')));
  process.stdout.write(`the image builds from the ${name}, runs, is healthy, and stops with exit code 0\n`);
} finally {
  for (const child of running) child.kill('SIGKILL');
  rmSync(work, { recursive: true, force: true });
}

/** The files of the clone that .dockerignore lets through: first `*`, then one `!path` per line. */
function contextOfClone() {
  const [all, ...more] = readFileSync(join(root, '.dockerignore'), 'utf8').trim().split('\n');
  assert.equal(all, '*');
  const taken = ['Dockerfile', ...more.map((line) => line.replace(/^!/, ''))];
  const files = execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard'], {
    cwd: root,
    encoding: 'utf8',
  });
  const context = join(work, 'clone');
  for (const file of files
    .split('\n')
    .filter((one) => taken.some((path) => one === path || one.startsWith(`${path}/`))))
    cpSync(join(root, file), join(context, file));
  return context;
}

function contextOfPackage() {
  execFileSync('npm', ['pack', '--silent', '--ignore-scripts', '--pack-destination', work], { cwd: root });
  const [tarball] = readdirSync(work).filter((name) => name.endsWith('.tgz'));
  execFileSync('tar', ['-xzf', tarball], { cwd: work });
  return join(work, 'package');
}

/** Knows the instructions that our Dockerfile uses, and fails on any other. */
function build(dockerfile, context, target) {
  const instructions = dockerfile
    .replace(/^#.*\n/gm, '')
    .replace(/\\\n/g, ' ')
    .split('\n')
    .filter((line) => line.trim() !== '');
  const stages = new Map();
  const image = { env: {} };
  for (const line of instructions) {
    const [, name, rest] = /^(\w+)\s+(.*)$/.exec(line);
    if (name === 'FROM') {
      const stage = / AS (\w+)$/.exec(rest)?.[1] ?? 'last';
      image.folder = join(target, stage);
      stages.set(stage, image.folder);
      mkdirSync(image.folder, { recursive: true });
    } else if (name === 'COPY') {
      const [, from, source, to] = /^(?:--from=(\w+) \/app\/)?(\S+) (\S+)$/.exec(rest);
      const origin = join(from === undefined ? context : stages.get(from), source);
      cpSync(origin, join(image.folder, to === './' ? source : to), { recursive: true, verbatimSymlinks: true });
    } else if (name === 'RUN') {
      execFileSync('sh', ['-c', rest], {
        cwd: image.folder,
        stdio: ['ignore', 'ignore', 'inherit'],
        env: { ...process.env, npm_config_prefer_offline: 'true', npm_config_loglevel: 'error' },
      });
    } else if (name === 'ENV') {
      const [key, value] = rest.split('=');
      image.env[key] = value;
    } else if (name === 'ENTRYPOINT' || name === 'CMD') image[name] = JSON.parse(rest);
    else if (name === 'HEALTHCHECK') image[name] = JSON.parse(/ CMD (\[.*\])$/.exec(rest)[1]);
    else assert.ok(['WORKDIR', 'USER', 'EXPOSE'].includes(name), `The instruction ${name} is not known here.`);
  }
  return image;
}

async function tryOut({ folder, env, ENTRYPOINT, CMD, HEALTHCHECK }) {
  const [redisPort, crmPort, pagePort] = [await freePort(), await freePort(), await freePort()];
  const compose = parse(readFileSync(join(root, 'docker-compose.yml'), 'utf8'), { merge: true });
  const password = 'redis-0123456789abcdef';
  const redisData = join(dirname(folder), 'redis');
  mkdirSync(redisData);
  // What a shell in the container of Redis would run: compose writes $ as $$, and keeps the secret in a file.
  const secret = join(dirname(folder), 'redis-password');
  writeFileSync(secret, password);
  const [shell, flag, script] = compose.services.redis.command;
  const here = script
    .replaceAll('$$', '$')
    .replace('/run/secrets/redis-password', secret)
    .replace('redis-server -', `redis-server - --port ${redisPort} --dir ${redisData}`);
  assert.ok(here.includes(secret) && here.includes(redisData), 'Redis has a password and a folder of its own');
  start(shell, [flag, here]);
  start('node', ['dist/src/cli/main.js', 'sandbox', '--port', crmPort, '--token', 'ci-token', '--people', '30'], {
    cwd: folder,
  });
  // Port 4021 may be taken on this machine.
  const onFreePort = (text) => text.replaceAll('4021', String(pagePort));
  const config = readFileSync(join(root, 'ops/container.config.json'), 'utf8');
  writeFileSync(join(folder, 'changefeed.config.json'), onFreePort(config));
  const given = {
    REDIS_URL: `redis://:${password}@127.0.0.1:${redisPort}/0`,
    CHANGEFEED_BASE_URL: `http://127.0.0.1:${crmPort}`,
    CHANGEFEED_TOKEN: 'ci-token',
    CHANGEFEED_READ_TOKEN: 'read-7f1e9a4c02d8b635',
    CHANGEFEED_OPERATE_TOKEN: 'operate-7f1e9a4c02d8b635',
  };
  for (const name of Object.keys(given)) assert.ok(name in compose.services.changefeed.environment, name);
  const [node, ...args] = [...ENTRYPOINT, ...CMD];
  const service = start(node, args, { cwd: folder, env: { PATH: process.env.PATH, ...env, ...given } });
  const [program, ...check] = HEALTHCHECK.map(onFreePort);
  await until(() => spawnSync(program, check, { cwd: folder }).status === 0, service);
  await until(() => service.output.includes('"sweep complete"'), service);
  const metrics = (headers) => fetch(`http://127.0.0.1:${pagePort}/metrics`, { headers });
  assert.equal((await metrics({})).status, 401);
  assert.equal((await metrics({ authorization: `Bearer ${given.CHANGEFEED_READ_TOKEN}` })).status, 200);
  service.child.kill('SIGTERM');
  const [code] = await once(service.child, 'exit');
  assert.equal(code, 0, service.output);
  assert.notEqual(spawnSync(program, check, { cwd: folder }).status, 0, 'the health check of a stopped service fails');
}

function start(program, args, options = {}) {
  const child = spawn(program, args.map(String), { stdio: ['ignore', 'pipe', 'pipe'], ...options });
  const started = { child, output: '' };
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text) => (started.output += text));
  running.push(child);
  return started;
}

async function until(condition, service) {
  for (let tries = 0; tries < 600; tries++) {
    if (condition()) return;
    assert.equal(service.child.exitCode, null, `The service ended.\n${service.output}`);
    await sleep(100);
  }
  assert.fail(`This did not become true in a minute: ${condition}\n${service.output}`);
}

async function freePort() {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address();
  server.close();
  return port;
}
