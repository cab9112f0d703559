/** The role `serve`: the mirror, which serves the lists of the read API from the stored records, and takes hints. */
import { listsOf, polledLists } from '../../config/lists.js';
import { modifiedAtOf } from '../../detect/fields.js';
import type { Part } from '../../runtime/lifecycle.js';
import type { HintTarget } from '../../server/hints/receive-hints.js';
import { createMirror } from '../../server/mirror/mirror.js';
import { withEtag } from '../../server/read-api/etag.js';
import { servedList } from '../../server/read-api/lists.js';
import type { ReadApiServer } from '../../server/read-api/server.js';
import type { Source } from '../../server/read-api/source.js';
import { createAimQueue } from '../../state/aim-queue.js';
import { createMirrorStore } from '../../state/mirror-store.js';
import type { AppContext } from '../context.js';
import { HINT } from '../../crm/hint.js';

/** Does nothing when the configuration has no `serve`. */
export function serveRole({ config: { serve, workspaces }, redis, keys, clock, log }: AppContext): Part {
  if (serve === null) return { name: 'mirror', start: () => Promise.resolve(), stop: () => Promise.resolve() };
  const mirrors = new Map<string, Source>();
  const hints = new Map<string, HintTarget>();
  for (const { name, lists } of workspaces) {
    const token = serve.tokens.get(name);
    const store = createMirrorStore(redis, keys, name);
    if (token === undefined) continue;
    mirrors.set(token, createMirror({ store, lists, clock, modifiedAtOf }));
    const queue = createAimQueue({ redis, keys, workspace: name });
    const add: HintTarget['add'] = (list, ids) => queue.add(list, ids, { by: HINT, atMs: clock.now() });
    hints.set(token, { workspace: name, lists: polledLists(lists), add });
  }
  const { host, port } = serve;
  const lists = listsOf(workspaces).all.map(servedList);
  const sources = (token: string): Source | null => mirrors.get(token) ?? null;
  const targets = (token: string): HintTarget | null => hints.get(token) ?? null;
  let server: ReadApiServer | undefined;
  return {
    name: 'mirror',
    async start() {
      // Loaded here, with Fastify, so that a process which serves nothing does not load it.
      const { createReadApiServer } = await import('../../server/read-api/server.js');
      server ??= createReadApiServer({ lists, sources, layers: [withEtag], hints: targets, host, port, clock, log });
      log.info({ url: await server.start() }, 'the mirror serves the lists');
    },
    stop: async () => await server?.stop(),
  };
}
