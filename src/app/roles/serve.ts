/** The role `serve`: the mirror, the six endpoints of the read API over the stored records. */
import { modifiedAtOf } from '../../detect/fields.js';
import type { Part } from '../../runtime/lifecycle.js';
import { createMirror } from '../../server/mirror/mirror.js';
import { createReadApiServer } from '../../server/read-api/server.js';
import type { Source } from '../../server/read-api/source.js';
import { createMirrorStore } from '../../state/mirror-store.js';
import type { AppContext } from '../context.js';

/** Does nothing when the configuration has no `serve`. */
export function serveRole({ config: { serve, workspaces }, redis, keys, clock, log }: AppContext): Part {
  if (serve === null) return { name: 'mirror', start: () => Promise.resolve(), stop: () => Promise.resolve() };
  const mirrors = new Map<string, Source>();
  for (const { name, lists } of workspaces) {
    const token = serve.tokens.get(name);
    const store = createMirrorStore(redis, keys, name);
    if (token !== undefined) mirrors.set(token, createMirror({ store, lists, clock, stampOf: modifiedAtOf }));
  }
  const { host, port } = serve;
  const server = createReadApiServer({ sources: (token) => mirrors.get(token) ?? null, host, port, clock, log });
  return {
    name: 'mirror',
    async start() {
      log.info({ url: await server.start() }, 'the mirror serves the six lists');
    },
    stop: () => server.stop(),
  };
}
