/** A TCP proxy in front of Redis that can fall silent, lose an answer, and lead to another server. Call it inside a test; closed after the test. */
import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';
import { onTestFinished } from 'vitest';

export interface RedisProxy {
  readonly url: string;
  readonly accepted: number;
  readonly lost: number;
  /** The current connections carry no more data, without being closed, as after a firewall dropped their state. Later ones work. */
  fallSilent(): void;
  /** In place of the next answer the connection closes: a client that connects again sends the command again. */
  loseNext(): void;
  /** Later connections lead to this server; those that there are close. */
  leadTo(redisUrl: string): void;
}

export async function startRedisProxy(redisUrl: string): Promise<RedisProxy> {
  const url = new URL(redisUrl);
  let target = Number(url.port);
  const pairs = new Set<readonly [near: Socket, far: Socket]>();
  const closeAll = (): void => {
    for (const sockets of pairs) for (const socket of sockets) socket.destroy();
    pairs.clear();
  };
  let [accepted, lost, losesNext] = [0, 0, false];
  const server = createServer({ allowHalfOpen: true }, (near) => {
    accepted += 1;
    const far = connect(target, url.hostname);
    for (const socket of [near, far]) socket.on('error', () => undefined);
    far.once('error', () => near.destroy());
    near.pipe(far);
    far.pipe(near);
    far.prependListener('data', () => {
      if (!losesNext) return;
      losesNext = false;
      lost += 1;
      for (const socket of [near, far]) socket.destroy();
    });
    pairs.add([near, far]);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    closeAll();
    server.close();
  });
  url.host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    url: url.href,
    get accepted() {
      return accepted;
    },
    get lost() {
      return lost;
    },
    fallSilent() {
      for (const [near, far] of pairs) {
        near.unpipe(far).pause();
        far.unpipe(near).pause();
      }
    },
    loseNext() {
      losesNext = true;
    },
    leadTo(redisUrl) {
      target = Number(new URL(redisUrl).port);
      closeAll();
    },
  };
}
