/** A PostgreSQL for tests: TEST_POSTGRES_URL, else a running server on this machine, else one started for the tests, else none. */
import { execFileSync, spawn, type ChildProcess } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import { chown, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import pg from 'pg';
import { eventually } from './eventually.js';

export type TestPostgres =
  { outcome: 'found'; url: string; close: () => Promise<void> } | { outcome: 'none'; reason: string };

export async function obtainPostgres(): Promise<TestPostgres> {
  const named = process.env['TEST_POSTGRES_URL'];
  if (named !== undefined && named !== '') return found(named);
  const local = 'postgres://postgres@127.0.0.1:5432/test';
  if (await answers(local)) return found(local);
  const bin = findBinaries();
  if (bin === undefined) return { outcome: 'none', reason: 'no TEST_POSTGRES_URL, and no initdb on this machine' };
  const user = userToRunAs();
  if (user === undefined)
    return { outcome: 'none', reason: 'PostgreSQL does not run as root, and there is no other user' };
  return launch(bin, user);
}

interface User {
  uid?: number;
  gid?: number;
}

function found(url: string): TestPostgres {
  return { outcome: 'found', url, close: () => Promise.resolve() };
}

async function answers(url: string): Promise<boolean> {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 1_000 });
  client.on('error', () => undefined);
  try {
    await client.connect();
    await client.query('SELECT 1');
    return true;
  } catch {
    return false;
  } finally {
    await client.end().catch(() => undefined);
  }
}

function findBinaries(): string | undefined {
  const packaged = '/usr/lib/postgresql';
  const versions = existsSync(packaged) ? readdirSync(packaged).map((version) => join(packaged, version, 'bin')) : [];
  const folders = [...(process.env['PATH'] ?? '').split(delimiter), ...versions.sort().toReversed()];
  return folders.find((folder) => existsSync(join(folder, 'initdb')) && existsSync(join(folder, 'postgres')));
}

function userToRunAs(): User | undefined {
  if (process.getuid?.() !== 0) return {};
  for (const name of ['postgres', 'nobody']) {
    try {
      const idOf = (flag: string): number => Number(execFileSync('id', [flag, name], { stdio: 'pipe' }).toString());
      return { uid: idOf('-u'), gid: idOf('-g') };
    } catch {
      // This user does not exist: try the next one.
    }
  }
  return undefined;
}

async function launch(bin: string, user: User): Promise<TestPostgres> {
  const dir = await mkdtemp(join(tmpdir(), 'changefeed-test-pg-'));
  if (user.uid !== undefined && user.gid !== undefined) await chown(dir, user.uid, user.gid);
  const data = join(dir, 'data');
  const initialise = ['-D', data, '-U', 'postgres', '--auth=trust', '--encoding=UTF8', '--no-locale', '--no-sync'];
  execFileSync(join(bin, 'initdb'), initialise, { ...user, cwd: dir, stdio: 'pipe' });
  const settings = ['listen_addresses=', `unix_socket_directories=${dir}`, 'fsync=off'].flatMap((one) => ['-c', one]);
  const server = spawn(join(bin, 'postgres'), ['-D', data, ...settings], { ...user, cwd: dir, stdio: 'ignore' });
  const kill = (): void => void server.kill('SIGQUIT');
  process.once('exit', kill);
  const url = `postgres://postgres@/postgres?host=${encodeURIComponent(dir)}`;
  await eventually(async () => {
    if (!(await answers(url))) throw new Error('PostgreSQL does not answer yet');
  });
  const close = async (): Promise<void> => {
    process.off('exit', kill);
    await stopped(server);
    await rm(dir, { recursive: true, force: true });
  };
  return { outcome: 'found', url, close };
}

function stopped(server: ChildProcess): Promise<void> {
  return new Promise((resolve) => {
    server.once('exit', () => resolve());
    server.kill('SIGQUIT');
  });
}
