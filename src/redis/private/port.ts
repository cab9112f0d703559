import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:net';

/** Below the ports of outgoing connections (from 32768 on Linux, 49152 elsewhere): one could take ours. */
const RANGE = [20_000, 32_000] as const;

/** This port of the loopback address if it is free now, else another one. Another program may take it at any time. */
export async function freePort(wanted = randomInt(...RANGE)): Promise<number> {
  const server = createServer().listen(wanted, '127.0.0.1');
  const isFree = await once(server, 'listening').then(
    () => once(server.close(), 'close'),
    () => null,
  );
  return isFree === null ? await freePort() : wanted;
}
