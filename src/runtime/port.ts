import { randomInt } from 'node:crypto';
import { createServer } from 'node:net';

/**
 * Below the ports that systems hand out for outgoing connections (from 32768 on Linux, 49152 elsewhere): a server that is
 * started again at its port must not find it taken by such a connection, for example by an attempt to reach it.
 */
const RANGE = [20_000, 32_000] as const;

/**
 * A TCP port on the loopback address that was free a moment ago, `preferred` if it is. Another program may take it at any
 * time: the caller must be ready to try another.
 */
export async function freePort(preferred: number = randomInt(...RANGE)): Promise<number> {
  for (let port = preferred; ; port = randomInt(...RANGE)) if (await isFree(port)) return port;
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const probe = createServer();
    probe.once('error', () => resolve(false));
    probe.listen(port, '127.0.0.1', () => probe.close(() => resolve(true)));
  });
}
