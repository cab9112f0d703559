/** What the demo's subscriptions send to: a server on this machine, one of whose addresses fails now and then, as real ones do. */
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';

export type DemoReceiver = Awaited<ReturnType<typeof startDemoReceiver>>;

/** Attempts that the subscription `ops` makes. */
export const OPS_ATTEMPTS = 3;
/** Of the events that reach `/ops`, in their order. The first dead letter comes early: a viewer waits seconds, not minutes. */
const REFUSED_ONCE = 6;
const REFUSED_TO_THE_END = 40;

export async function startDemoReceiver() {
  const refusals = new Map<string, number>();
  let count = 0;
  const server = createServer((request, response) => {
    request.resume();
    request.on('end', () => {
      if (request.url !== '/ops') {
        response.writeHead(204).end();
        return;
      }
      const id = String(request.headers['webhook-id']);
      const left = refusals.get(id) ?? refusalsOf(++count);
      refusals.set(id, left - 1);
      if (left > 0) response.writeHead(503).end('the order system is being deployed');
      else response.writeHead(204).end();
    });
  });
  const url = await listening(server);
  return {
    /** Takes everything. */
    chatUrl: `${url}/chat`,
    /** Refuses the first attempt of some events and all attempts of a few; what a person sends again, it takes. */
    opsUrl: `${url}/ops`,
    close: async (): Promise<void> => {
      server.closeAllConnections();
      await new Promise((resolve) => void server.close(resolve));
    },
  };
}

function refusalsOf(nth: number): number {
  if (nth % REFUSED_TO_THE_END === 3) return OPS_ATTEMPTS;
  return nth % REFUSED_ONCE === 2 ? 1 : 0;
}

async function listening(server: Server): Promise<string> {
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(0, '127.0.0.1', resolve);
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}
