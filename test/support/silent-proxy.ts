/** A TCP proxy that can fall silent: its connections stay open and carry no more data, as after a firewall dropped their state. */
import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';
import { onTestFinished } from 'vitest';

export interface SilentProxy {
  readonly port: number;
  /** The number of connections so far. */
  readonly accepted: number;
  /** The current connections carry no more data, without being closed. Later ones work. */
  fallSilent(): void;
}

/** Call it inside a test; closed after the test. */
export async function startSilentProxy(targetPort: number): Promise<SilentProxy> {
  const pairs = new Set<readonly [Socket, Socket]>();
  let accepted = 0;
  const server = createServer({ allowHalfOpen: true }, (near) => {
    accepted += 1;
    const far = connect(targetPort, '127.0.0.1');
    for (const socket of [near, far]) socket.on('error', () => undefined);
    near.pipe(far);
    far.pipe(near);
    pairs.add([near, far]);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    for (const sockets of pairs) for (const socket of sockets) socket.destroy();
    server.close();
  });
  return {
    port: (server.address() as AddressInfo).port,
    get accepted() {
      return accepted;
    },
    fallSilent() {
      for (const [near, far] of pairs) {
        near.unpipe(far).pause();
        far.unpipe(near).pause();
      }
    },
  };
}
