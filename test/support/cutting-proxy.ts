import { once } from 'node:events';
import { connect, createServer, type AddressInfo } from 'node:net';
import { onTestFinished } from 'vitest';
import type { TestRedis } from './redis.js';

/**
 * A proxy that, once it is armed, passes the next answer that contains this text up to it, and then closes the connection. With "", the
 * next answer is lost: a client that connects again sends the command again.
 */
export async function startCuttingProxy(
  test: Pick<TestRedis, 'url'>,
  after: string,
): Promise<{ url: string; arm: () => void; cuts: () => number }> {
  const target = new URL(test.url);
  let armed = false;
  let cuts = 0;
  const server = createServer((near) => {
    const far = connect(Number(target.port), target.hostname);
    near.pipe(far);
    far.on('data', (data) => {
      const end = data.indexOf(after) + after.length;
      if (!armed || end < after.length) return near.write(data);
      armed = false;
      cuts += 1;
      near.end(data.subarray(0, end), () => far.destroy());
      return true;
    });
    near.on('close', () => far.destroy());
    for (const socket of [near, far]) socket.on('error', () => undefined);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  const url = new URL(test.url);
  url.host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  return { url: url.href, arm: () => (armed = true), cuts: () => cuts };
}
