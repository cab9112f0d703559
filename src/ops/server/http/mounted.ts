/** Our routes within a server of the user: requests under a path are handed over, whatever that server has done with them. */
import type { RequestListener } from 'node:http';
import { Readable } from 'node:stream';
import type { FastifyInstance } from 'fastify';

type Handed = Parameters<RequestListener>[0] & { originalUrl?: string; body?: unknown };

export function handedOver(app: FastifyInstance, path: string): RequestListener {
  return (request: Handed, response) => {
    // Express takes the path off.
    const { originalUrl: url = request.url ?? '' } = request;
    const rest = url.startsWith(path) ? url.slice(path.length) : url;
    // The page asks for everything beside it.
    if (rest === '' || rest.startsWith('?')) {
      response.writeHead(302, { location: `${path}/${rest}` }).end();
      return;
    }
    request.url = rest;
    app.routing(request, response);
  };
}

/** A body that a middleware has read would never come. */
export function readBodyAgain(app: FastifyInstance): void {
  app.addHook('preParsing', (request, _reply, payload, done) => {
    const { body, readableEnded } = request.raw as Handed;
    if (body === undefined || !readableEnded) {
      done(null, payload);
      return;
    }
    const again = Readable.from([Buffer.from(JSON.stringify(body))]);
    done(null, Object.assign(again, { receivedEncodedLength: Number(request.headers['content-length'] ?? 0) }));
  });
}
