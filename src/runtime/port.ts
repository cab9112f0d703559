import { createServer } from 'node:net';
import { ChangefeedError } from '../errors.js';

/**
 * A TCP port on the loopback address that was free a moment ago. Somebody may take it before we do: whoever uses it
 * must be ready to try another.
 */
export function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const probe = createServer();
    probe.once('error', reject);
    probe.listen(0, '127.0.0.1', () => {
      const address = probe.address();
      probe.close(() => {
        if (address !== null && typeof address === 'object') resolve(address.port);
        else reject(new ChangefeedError('CF_INTERNAL', { message: 'A listening socket has no port.' }));
      });
    });
  });
}
