/** Invitations with the link that signs in. */
import { hostname } from 'node:os';
import type { Changefeed } from '../actions/feed.js';
import type { Config } from '../config/schema.js';
import { parseDuration } from '../kit/duration.js';
import { usage } from '../kit/errors.js';
import type { Invites } from '../ops/invites.js';
import type { Workspaces } from '../../workers/workspaces.js';
import { USUAL_PORT } from './http.js';

const DAY_MS = 86_400_000;
const LONGEST_MS = 366 * DAY_MS;
/** A cookie holds at most 4 kB, and a name is shown in one line. */
const NAME = /^\P{C}{1,80}$/u;
/** The audit calls the tokens of the configuration so. */
const ROLES: readonly string[] = ['read', 'operate'];

/** @param pageUrl of the page that this process serves; null: another one serves it */
export function invitations(
  http: Config['http'],
  invites: Invites,
  { pageUrl, workspaces }: { pageUrl: () => string | null; workspaces: Pick<Workspaces, 'find'> },
): Changefeed['invites'] {
  return {
    async add({ name: given, role = 'read', expires = '90d', workspace }) {
      const [name, forMs] = [given.trim(), parseDuration(expires) ?? 0];
      if (!http.enabled) throw usage('invite: the configuration serves no status page (http.enabled is false).');
      const { tokens, trustedProxy } = http;
      const isOpen = tokens.read === undefined && tokens.operate === undefined;
      if (isOpen && trustedProxy !== undefined)
        throw usage('invite: http.trustedProxy signs people in; let the proxy do so, or set http.tokens as well.');
      if (!NAME.test(name) || ROLES.includes(name))
        throw usage('invite: name: allowed: at most 80 characters in one line, and neither "read" nor "operate".');
      if (workspace !== undefined && role !== 'read')
        throw usage('invite: who sees one workspace can only read: leave role out.');
      if (workspace !== undefined && workspaces.find(workspace) === undefined)
        throw usage(`invite: there is no workspace "${workspace}".`);
      if (forMs < 60_000 || forMs > LONGEST_MS)
        throw usage(`invite: expires: found "${expires}"; allowed: a duration from 1m to 366d, such as 90d.`);
      const made = await invites.add({ name, role, forMs, workspace });
      const reach = isOpen ? 'this machine' : http.publicUrl === undefined ? 'address' : 'public';
      return {
        ...made,
        reach,
        link: `${(http.publicUrl ?? pageUrl() ?? urlOf(http)).replace(/\/$/, '')}/#t=${made.token}`,
      };
    },
    list: async () =>
      (await invites.read()).map(({ name, role, since, until, workspace }) => ({
        ...{ name, role, since, until },
        ...(workspace !== undefined && { workspace }),
      })),
    revoke: (name) => invites.revoke(name.trim()),
  };
}

/** As another machine finds it, where the page listens on all addresses. */
function urlOf({ host, port }: Config['http']): string {
  const named = ['0.0.0.0', '::'].includes(host) ? hostname() : host;
  return `http://${named.includes(':') ? `[${named}]` : named}:${port ?? USUAL_PORT}`;
}
