import { randomInt } from 'node:crypto';
import { createServer } from 'node:net';

/**
 * Below the ports that systems assign to outgoing connections (from 32768 on Linux, 49152 elsewhere). A server that is
 * started again on its port must not find it taken by such a connection, for example by an attempt to reach that server.
 */
const RANGE = [20_000, 32_000] as const;

/** A TCP port on the loopback address that is free now. Another program may take it at any time. */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = randomInt(...RANGE);
    if (await isFree(port)) return port;
  }
}

/** Whether no program listens on this port of the loopback address. */
export function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const probe = createServer();
    probe.once('error', () => resolve(false));
    probe.listen(port, '127.0.0.1', () => probe.close(() => resolve(true)));
  });
}
