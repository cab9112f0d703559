/** `redis.conf` of a state directory: port and password of its private Redis, read by the server and by its users. */
import { randomBytes } from 'node:crypto';
import { renameSync } from 'node:fs';
import { resolve } from 'node:path';
import { ChangefeedError } from '../../kit/errors.js';
import { makeOwnFile } from '../../kit/own-file.js';
import { freePort } from './launch.js';
import { readStateFile, withStateDir } from './state-dir.js';

export interface Address {
  port: number;
  password: string;
  url: string;
}

export const addressFile = (stateDir: string): string => resolve(stateDir, 'redis.conf');

/** Of several processes that find none, one makes it. @throws ChangefeedError CF_STATE_DIR */
export async function addressOf(stateDir: string): Promise<Address> {
  const file = addressFile(stateDir);
  const fresh = (): Promise<string> => freePort().then((port) => textOf(port, randomBytes(24).toString('hex')));
  const made = async (): Promise<string> => {
    const text = await fresh();
    return withStateDir(stateDir, () => makeOwnFile(file, text));
  };
  const [, port, password] = FORM.exec(readStateFile(file) ?? (await made())) ?? [];
  if (port === undefined || password === undefined)
    // Without the address of a server that may run, another one would destroy its data.
    throw new ChangefeedError('CF_STATE_DIR', {
      message: `${file} is damaged. End all processes that use this folder and its redis-server, then remove the file.`,
    });
  return { port: Number(port), password, url: `redis://:${password}@127.0.0.1:${port}/0` };
}

/** Another program has the port. All processes that find this out choose the same next one. */
export function movePort(stateDir: string, { port, password }: Address): void {
  const next = resolve(stateDir, `redis.conf.${randomBytes(6).toString('hex')}`);
  withStateDir(stateDir, () => {
    makeOwnFile(next, textOf(port + 1, password));
    renameSync(next, addressFile(stateDir));
  });
}

const FORM = /^port (\d+)\nrequirepass (\w+)\n$/;
const textOf = (port: number, password: string): string => `port ${port}\nrequirepass ${password}\n`;
