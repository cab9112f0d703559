// A receiver of webhooks, with the official package: HOOK_SECRET="whsec_…" node examples/receiver.mjs
// (several secrets, separated by spaces, while one replaces another). Needs: npm install standardwebhooks
// It listens at http://127.0.0.1:8080, or at the port PORT.
import { createServer } from 'node:http';
import { Webhook } from 'standardwebhooks';

const verifiers = (process.env.HOOK_SECRET ?? '').split(' ').map((secret) => new Webhook(secret));
const seen = new Set();

const server = createServer(async (request, response) => {
  const parts = [];
  for await (const part of request) parts.push(part);
  // The signature covers the received bytes: verify them first, then parse them.
  const body = Buffer.concat(parts).toString('utf8');
  if (!verifiers.some((verifier) => accepts(verifier, body, request.headers))) {
    response.writeHead(401).end('the signature is not valid, or its time is more than five minutes away');
    return;
  }
  const event = JSON.parse(body);
  // Delivery is at least once: an id that was seen before is the same event.
  if (!seen.has(event.id)) {
    process.stdout.write(`${JSON.stringify(event)}\n`);
    seen.add(event.id);
  }
  // Answer last: a 2xx says that you have the event, and it is not sent again.
  response.writeHead(204).end();
});

function accepts(verifier, body, headers) {
  try {
    verifier.verify(body, headers);
    return true;
  } catch {
    return false;
  }
}

server.listen(Number(process.env.PORT ?? 8080), '127.0.0.1', () => {
  process.stdout.write(`listening on port ${server.address().port}\n`);
});
