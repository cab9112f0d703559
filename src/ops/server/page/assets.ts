/** The built page: a few files, read once, with a digest in their names so that a browser may keep them. */
import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { extname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { FastifyInstance } from 'fastify';

const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
};

/** Where the build puts the page; from the sources, the page of the last build is served. */
const PLACES = ['./static', '../../../../dist/src/ops/server/page/static'].map((place) =>
  fileURLToPath(new URL(place, import.meta.url)),
);

export function assetRoutes(app: FastifyInstance): void {
  const folder = PLACES.find((place) => existsSync(join(place, 'index.html')));
  const publicly = { config: { access: 'public' } } as const;
  if (folder === undefined) {
    app.get('/', publicly, (_request, reply) =>
      reply.type('text/plain').send('The page is not built: npm run build\n'),
    );
    return;
  }
  for (const name of readdirSync(folder)) {
    const content = readFileSync(join(folder, name));
    const type = TYPES[extname(name)] ?? 'application/octet-stream';
    const isPage = name === 'index.html';
    const age = isPage ? 'no-cache' : 'public, max-age=31536000, immutable';
    app.get(isPage ? '/' : `/assets/${name}`, publicly, (_request, reply) =>
      reply.type(type).header('cache-control', age).send(content),
    );
  }
}
