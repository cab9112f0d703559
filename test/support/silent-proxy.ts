/** A TCP proxy that falls silent: its connections stay open and carry nothing more, as behind a firewall that forgot them. */
import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';
import { onTestFinished } from 'vitest';

export interface SilentProxy {
  readonly port: number;
  /** Connections that were made so far. */
  readonly accepted: number;
  /** Connections there are now carry nothing more, without being closed; later ones work. */
  fallSilent(): void;
}

/** Call it inside a test; it is gone after it. */
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
