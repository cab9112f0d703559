/** Which Redis server program this machine has, and how it would get one. */
import { accessSync, constants, readFileSync, statSync } from 'node:fs';
import { delimiter, join } from 'node:path';

const PROGRAMS = ['redis-server', 'valkey-server'] as const;

/** The first `redis-server`, else `valkey-server`, on a search path; undefined when there is none. */
export function findRedisBinary(searchPath: string | undefined): string | undefined {
  const folders = (searchPath ?? '').split(delimiter).filter((folder) => folder !== '');
  for (const program of PROGRAMS) {
    const found = folders.map((folder) => join(folder, program)).find(isProgram);
    if (found !== undefined) return found;
  }
  return undefined;
}

function isProgram(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return statSync(file).isFile();
  } catch {
    return false;
  }
}

/** What `/etc/os-release` calls the families whose package managers we know. */
const LINUX_FAMILIES: readonly (readonly [RegExp, string])[] = [
  [/debian|ubuntu/, 'sudo apt-get install -y redis-server'],
  [/fedora/, 'sudo dnf install -y valkey'],
  [/rhel|centos|rocky|almalinux|amzn/, 'sudo dnf install -y redis'],
  [/alpine/, 'sudo apk add redis'],
  [/arch|manjaro/, 'sudo pacman -S --noconfirm valkey'],
  [/suse/, 'sudo zypper install -y redis'],
];

/**
 * The line that installs Redis here.
 * @param osRelease the text of `/etc/os-release`, empty where there is none
 */
export function redisInstallLine(platform: NodeJS.Platform, osRelease: string): string {
  if (platform === 'darwin') return 'brew install redis';
  if (platform === 'win32') return 'wsl --install, and inside it: sudo apt-get install -y redis-server';
  const names = [...osRelease.matchAll(/^ID(?:_LIKE)?=(.*)$/gm)].map((match) => (match[1] ?? '').toLowerCase());
  for (const name of names) {
    const family = LINUX_FAMILIES.find(([pattern]) => pattern.test(name));
    if (family !== undefined) return family[1];
  }
  return 'install the package "redis" or "valkey" with the package manager of this system';
}

/** The text of `/etc/os-release`; empty where there is none. */
export function readOsRelease(): string {
  try {
    return readFileSync('/etc/os-release', 'utf8');
  } catch {
    return '';
  }
}
