/** The built page: a few files, read once, with a digest in their names so that a browser may keep them. */
import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { extname, join } from 'node:path';
import type { FastifyInstance } from 'fastify';
import { packageFolder } from '../../../kit/package-files.js';

const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
};

/** What the build has compressed, beside the file itself. */
const PACKED = '.gz';

/** Where the build puts the page. */
const FOLDER = packageFolder && join(packageFolder, 'dist/src/ops/server/page/static');

export function assetRoutes(app: FastifyInstance): void {
  const publicly = { config: { access: 'public' } } as const;
  if (FOLDER === null || !existsSync(join(FOLDER, 'index.html'))) {
    const why = FOLDER === null ? 'crm-changefeed is bundled; install it as well' : 'it is not built: npm run build';
    app.get('/', publicly, (_request, reply) => reply.type('text/plain').send(`There is no page: ${why}\n`));
    return;
  }
  const names = readdirSync(FOLDER);
  for (const name of names.filter((one) => extname(one) !== PACKED)) {
    const content = readFileSync(join(FOLDER, name));
    const packed = names.includes(name + PACKED) ? readFileSync(join(FOLDER, name + PACKED)) : null;
    const type = TYPES[extname(name)] ?? 'application/octet-stream';
    const isPage = name === 'index.html';
    const age = isPage ? 'no-cache' : 'public, max-age=31536000, immutable';
    app.get(isPage ? '/' : `/assets/${name}`, publicly, ({ headers }, reply) => {
      void reply.type(type).header('cache-control', age);
      if (packed === null) return reply.send(content);
      void reply.header('vary', 'accept-encoding');
      const takes = /\bgzip\b(?!\s*;\s*q=0(\.0*)?\s*(,|$))/.test(headers['accept-encoding'] ?? '');
      return takes ? reply.header('content-encoding', 'gzip').send(packed) : reply.send(content);
    });
  }
}
