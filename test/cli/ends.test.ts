/** However a command ends: no process of it goes on, its private Redis ends with it, and `demo` leaves no folder unless it is killed. */
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { describe, expect, it, onTestFinished } from 'vitest';
import { probeRedis } from '../../src/redis/probe.js';
import { eventually } from '../support/eventually.js';
import { rowsOfGate } from '../support/night.js';
import { addressOf } from '../../src/redis/private/address.js';
import { hasAddress, redisBinary } from '../support/private-redis.js';
import { hasTerminal } from '../support/process.js';
import { program } from '../support/program.js';

const tsx = pathToFileURL(createRequire(import.meta.url).resolve('tsx')).href;
const main = fileURLToPath(program('src/cli/main'));
const changefeed = [process.execPath, ...(main.endsWith('.ts') ? ['--import', tsx] : []), main];

async function project() {
  const cwd = await mkdtemp(join(tmpdir(), 'changefeed-ends-'));
  onTestFinished(async () => {
    for (const pid of processesOf(cwd)) process.kill(pid, 'SIGKILL');
    await rm(cwd, { recursive: true, force: true });
  });
  const [bin, tmp] = [join(cwd, 'node_modules', '.bin'), join(cwd, 'tmp')];
  for (const folder of [bin, tmp]) mkdirSync(folder, { recursive: true });
  const quoted = changefeed.map((part) => `'${part}'`).join(' ');
  writeFileSync(join(bin, 'changefeed'), `#!/bin/sh\nexec ${quoted} "$@"\n`);
  chmodSync(join(bin, 'changefeed'), 0o755);
  const scripts = { demo: 'true && changefeed demo --people 5' };
  writeFileSync(join(cwd, 'package.json'), JSON.stringify({ name: 'x', version: '1.0.0', scripts }));
  // Nothing listens there: the service runs and reports that the API is away.
  const workspaces = [{ name: 'acme', baseUrl: 'http://127.0.0.1:9/api', token: 't' }];
  writeFileSync(join(cwd, 'changefeed.config.json'), JSON.stringify({ workspaces, http: { enabled: false } }));

  const foreign = /^(npm_|REDIS_URL$|CHANGEFEED_)/;
  const env = {
    ...Object.fromEntries(Object.entries(process.env).filter(([name]) => !foreign.test(name))),
    TMPDIR: tmp,
    CHANGEFEED_STATE_DIR: join(cwd, 'state'),
  };
  const stateDir = (): string | undefined =>
    [join(cwd, 'state'), ...readdirSync(tmp).map((name) => join(tmp, name))].find(hasAddress);
  return {
    cwd,
    run: (line: string): ChildProcess => {
      const child = spawn('sh', ['-c', line], { cwd, env, stdio: ['ignore', 'pipe', 'pipe'], detached: true });
      onTestFinished(() => {
        child.kill('SIGKILL');
      });
      return child;
    },
    redis: (): Promise<string> =>
      eventually(async () => {
        const { url } = await addressOf(stateDir() ?? 'nowhere');
        expect(await probeRedis(url, { mustKnowPassword: true })).toBeNull();
        return url;
      }),
    isLeft: async (url: string): Promise<object> => {
      const isAbsent = /ECONNREFUSED/.test(String(await probeRedis(url)));
      return {
        redis: isAbsent ? 'absent' : 'there',
        processes: processesOf(cwd),
        folders: readdirSync(tmp).filter(isOurs),
      };
    },
  };
}

const isOurs = (folder: string): boolean => folder.startsWith('changefeed-');
const NOTHING = { redis: 'absent', processes: [], folders: [] };

/** Every process that was started in the project, the shell of its Redis included; only Linux shows them. */
function processesOf(cwd: string): number[] {
  const belongs = (pid: string): boolean => {
    try {
      return readFileSync(`/proc/${pid}/environ`, 'utf8').includes(`TMPDIR=${join(cwd, 'tmp')}\0`);
    } catch {
      return false;
    }
  };
  if (!existsSync('/proc/self/environ')) return [];
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name) && belongs(name))
    .map(Number);
}

function closeOutputs({ stdout, stderr }: ChildProcess): void {
  stdout?.destroy();
  stderr?.destroy();
}
const drain = ({ stdout, stderr }: ChildProcess): void => {
  stdout?.resume();
  stderr?.resume();
};
const closeLog = ({ stderr }: ChildProcess): void => {
  stderr?.destroy();
};
const terminate = (child: ChildProcess): void => {
  child.kill('SIGTERM');
};
const kill = (child: ChildProcess): void => {
  child.kill('SIGKILL');
};

describe.skipIf(redisBinary === undefined)('the end of a command', { timeout: 300_000 }, () => {
  const demo = 'exec node_modules/.bin/changefeed demo --people 5';
  const start = 'exec node_modules/.bin/changefeed start';

  const ENDS: [string, string, (child: ChildProcess) => void][] = [
    ['`demo` whose outputs are closed', demo, closeOutputs],
    ['`start` that is killed', start, kill],
    ['`npx changefeed start` that gets SIGTERM', 'exec npx changefeed start', terminate],
    ['`demo` whose standard error is closed', demo, closeLog],
    ['`start` whose log is closed', start, closeLog],
    ['`npx changefeed start` that is killed', 'exec npx changefeed start', kill],
    [
      '`npx changefeed start` that is killed by a process that does not collect its exit status',
      'npx changefeed start & trap "kill -9 $!; exec env -i sleep 300 >/dev/null 2>&1" TERM; wait',
      terminate,
    ],
    ['`npm run demo` that gets SIGTERM', 'exec npm run demo', terminate],
    ['`npm run demo` that is killed', 'exec npm run demo', kill],
  ];
  it.each(rowsOfGate(3, ENDS))('end: %s leaves nothing behind', async (_what, line, end) => {
    const { run, redis, isLeft } = await project();
    const child = run(line);
    drain(child);
    const url = await redis();
    end(child);
    await eventually(async () => expect(await isLeft(url)).toEqual(NOTHING));
  });

  it('end: a closed pipe on both outputs is no failure', async () => {
    const { cwd, run } = await project();
    const child = run('{ node_modules/.bin/changefeed demo --people 5; echo $? > code; } 2>&1 | head -1');
    drain(child);
    await once(child, 'close');
    expect(readFileSync(join(cwd, 'code'), 'utf8')).toBe('0\n');
    await eventually(() => expect(processesOf(cwd)).toEqual([]));
    expect(readdirSync(join(cwd, 'tmp')).filter(isOurs)).toEqual([]);
  });

  it.skipIf(!hasTerminal).each(
    rowsOfGate(1, [
      ['demo', demo],
      ['start', start],
      ['start, with its log in a file', `${start} 2> log`],
    ]),
  )('end: a closed terminal ends `%s`', async (_what, line) => {
    const { run, redis, isLeft } = await project();
    const terminal = run(`exec script -qefc '${line}' /dev/null`);
    drain(terminal);
    const url = await redis();
    terminal.kill('SIGKILL');
    await eventually(async () => expect(await isLeft(url)).toEqual(NOTHING));
  });

  it('end: SIGHUP without a terminal does not end `start`: it restarts by its configuration, if that is valid', async () => {
    const { cwd, run, redis, isLeft } = await project();
    const child = run(`${start} 2> log`);
    drain(child);
    const url = await redis();
    const log = (): string => readFileSync(join(cwd, 'log'), 'utf8');
    await eventually(() => expect(log()).toMatch(/changefeed is running/));
    writeFileSync(join(cwd, 'changefeed.config.json'), '{');
    child.kill('SIGHUP');
    await eventually(() => expect(log()).toMatch(/the configuration is not valid and was not applied/));
    const ended = once(child, 'close');
    child.kill('SIGTERM');
    expect(await ended).toEqual([0, null]);
    await eventually(async () => expect(await isLeft(url)).toEqual(NOTHING));
  });
});
