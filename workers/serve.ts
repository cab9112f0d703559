/** The role `serve`: the mirror, which serves the lists of the read API from the stored records, and takes hints. */
import { listsOf, polledLists } from '../src/config/lists.js';
import { modifiedAtOf } from '../src/feed/detect/fields.js';
import type { Part } from '../src/kit/lifecycle.js';
import { isSameToken } from '../src/kit/same-token.js';
import { createAttempts } from '../src/ops/server/http/limits.js';
import type { HintTarget } from '../src/ops/server/hints.js';
import { createMirror } from '../src/ops/server/mirror/mirror.js';
import { withEtag } from '../src/ops/server/read-api/answer.js';
import { servedList } from '../src/ops/server/read-api/lists.js';
import type { ReadApiServer } from '../src/ops/server/read-api/server.js';
import type { Source } from '../src/ops/server/read-api/source.js';
import { createAimQueue } from '../src/feed/list/aim-queue.js';
import { createMirrorStore } from '../src/ops/server/mirror/mirror-store.js';
import type { AppContext } from './context.js';

/** Does nothing when the configuration has no `serve`. */
export function serveRole({ config: { serve, workspaces }, redis, keys, clock, log }: AppContext): Part {
  if (serve === null) return { name: 'mirror', start: () => Promise.resolve(), stop: () => Promise.resolve() };
  const mirrors: Holder<Source>[] = [];
  const hints: Holder<HintTarget>[] = [];
  for (const { name, lists } of workspaces) {
    const [token, hintToken] = [serve.tokens.get(name), serve.hintTokens.get(name)];
    const store = createMirrorStore(redis, keys, name);
    if (token !== undefined) mirrors.push({ token, held: createMirror({ store, lists, clock, modifiedAtOf }) });
    const queue = createAimQueue({ redis, keys, workspace: name });
    const add: HintTarget['add'] = (list, ids) => queue.add(list, ids, clock.now());
    if (hintToken !== undefined)
      hints.push({ token: hintToken, held: { workspace: name, lists: polledLists(lists), add } });
  }
  const options = {
    lists: listsOf(workspaces).all.map(servedList),
    sources: (token: string) => heldBy(token, mirrors),
    layers: [withEtag],
    mirror: true,
    ...(hints.length > 0 && { hints: (token: string) => heldBy(token, hints) }),
    host: serve.host,
    port: serve.port,
    clock,
    log,
  };
  let server: ReadApiServer | undefined;
  return {
    name: 'mirror',
    async start() {
      // Loaded here, with Fastify, so that a process which serves nothing does not load it.
      const { createReadApiServer } = await import('../src/ops/server/read-api/server.js');
      server ??= createReadApiServer({ ...options, attempts: createAttempts(clock) });
      log.info({ url: await server.start() }, 'the mirror serves the lists');
    },
    stop: async () => await server?.stop(),
  };
}

interface Holder<Held> {
  token: string;
  held: Held;
}

function heldBy<Held>(given: string, holders: readonly Holder<Held>[]): Held | null {
  return holders.find(({ token }) => isSameToken(given, token))?.held ?? null;
}
