/** The role `serve`: the mirror, which serves the lists of the read API from the stored records. */
import { listsOf } from '../../config/lists.js';
import { modifiedAtOf } from '../../detect/fields.js';
import type { Part } from '../../runtime/lifecycle.js';
import { createMirror } from '../../server/mirror/mirror.js';
import { servedList } from '../../server/read-api/lists.js';
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
    if (token !== undefined) mirrors.set(token, createMirror({ store, lists, clock, modifiedAtOf }));
  }
  const { host, port } = serve;
  const lists = listsOf(workspaces).all.map(servedList);
  const sources = (token: string): Source | null => mirrors.get(token) ?? null;
  const server = createReadApiServer({ lists, sources, host, port, clock, log });
  return {
    name: 'mirror',
    async start() {
      log.info({ url: await server.start() }, 'the mirror serves the lists');
    },
    stop: () => server.stop(),
  };
}
