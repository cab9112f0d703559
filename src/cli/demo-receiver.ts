/** The server that the demo's subscriptions send to. One of its addresses fails now and then, as real ones do. */
import { createApp, listening } from '../ops/server/http/app.js';

export type DemoReceiver = Awaited<ReturnType<typeof startDemoReceiver>>;

export const OPS_ATTEMPTS = 3;
/** Counts the events that reach `/ops`. The first dead letter comes early: a viewer waits seconds, not minutes. */
const REFUSED_ONCE = 6;
const REFUSED_TO_THE_END = 40;

export async function startDemoReceiver() {
  const refusals = new Map<string, number>();
  let count = 0;
  const app = createApp({});
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('*', (_request, payload, done) => {
    payload.resume();
    done(null);
  });
  app.post('/chat', (_request, reply) => reply.code(204).send());
  app.post('/ops', (request, reply) => {
    const id = String(request.headers['webhook-id']);
    const left = refusals.get(id) ?? refusalsOf(++count);
    refusals.set(id, left - 1);
    return left > 0 ? reply.code(503).send('the order system is being deployed') : reply.code(204).send();
  });
  const server = listening(app, { host: '127.0.0.1', port: 0 });
  const url = await server.start();
  return {
    chatUrl: `${url}/chat`,
    /** Refuses the first attempt of some events and all attempts of a few; what a person sends again, it takes. */
    opsUrl: `${url}/ops`,
    close: () => server.stop(),
  };
}

function refusalsOf(nth: number): number {
  if (nth % REFUSED_TO_THE_END === 3) return OPS_ATTEMPTS;
  return nth % REFUSED_ONCE === 2 ? 1 : 0;
}
