/** A TCP gate in front of a receiver, which can let everything through, say nothing, or be away; and it counts its connections. */
import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';

export interface Gate {
  readonly port: number;
  become(state: 'open' | 'silent' | 'away'): void;
  connections(): number;
  close(): Promise<void>;
}

export async function openGate(target: { port: number; host?: string }): Promise<Gate> {
  const near = new Set<Socket>();
  let state: 'open' | 'silent' | 'away' = 'open';
  const server = createServer((socket) => {
    socket.on('error', () => undefined);
    if (state === 'away') {
      socket.destroy();
      return;
    }
    near.add(socket);
    socket.once('close', () => near.delete(socket));
    if (state === 'silent') {
      socket.resume();
      return;
    }
    const far = connect(target.port, target.host ?? '127.0.0.1');
    far.on('error', () => socket.destroy());
    far.pipe(socket).pipe(far);
    socket.once('close', () => far.destroy());
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    become(next) {
      state = next;
      for (const socket of near) {
        if (next === 'silent') socket.unpipe().removeAllListeners('data').resume();
        else socket.destroy();
      }
    },
    connections: () => near.size,
    async close() {
      for (const socket of near) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
}
