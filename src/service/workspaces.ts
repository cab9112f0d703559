/** Workspaces that come and go while the service runs: each call writes the book, and every process takes it over within two seconds. */
import type { HostedWorkspace, HostedWorkspaces } from '../actions/feed.js';
import type { WorkspaceInput } from '../config/schema.js';
import { parseWorkspace } from '../config/workspace.js';
import { isoTime } from '../kit/clock.js';
import { ChangefeedError, usage } from '../kit/errors.js';
import { NAME } from '../kit/schema/fields.js';
import type { WorkspaceEntry } from '../ops/workspaces/book.js';
import type { Keyring } from '../ops/workspaces/seal.js';
import type { AppContext } from '../../workers/context.js';
import { eraseClaimed, type EraseDeps } from './erasing-workspaces.js';

/** What is erased can be had back until then. */
const GRACE_MS = 7 * 86_400_000;
const MOST = 10_000;

export function hostedWorkspaces(context: AppContext, deps: EraseDeps): HostedWorkspaces {
  const { book, clock, config } = context;
  const { running } = deps;
  const now = (): string => isoTime(clock.now());
  const stateOf = (name: string, state: 'active' | 'paused') =>
    changed(context, name, (before) => {
      if (before.state === 'removed') throw usage(`workspaces: "${name}" is removed: put it again.`);
      return before.state === state ? before : { ...before, state, since: now() };
    });
  const written = async (name: string, entry: WorkspaceEntry | null): Promise<HostedWorkspace> => {
    await running.written();
    if (entry === null) throw unknownWorkspace(name);
    return shown(name, entry, running.whyNot(name));
  };
  return {
    async put(name, options) {
      const { entry, did } = await putEntry(name, options, context);
      return { ...(await written(name, entry)), did };
    },
    async rotate(name, token) {
      checkName(context, name);
      const keyring = keyringOf(context);
      const entry = await changed(context, name, (before) => {
        const of = { workspace: name, baseUrl: before.options.baseUrl };
        const { data } = keyring.open(before.sealed, of);
        parseWorkspace({ ...before.options, name, token, data }, []);
        return { ...before, sealed: keyring.seal({ token, data }, of) };
      });
      return await written(name, entry);
    },
    pause: async (name) => await written(name, await stateOf(name, 'paused')),
    resume: async (name) => await written(name, await stateOf(name, 'active')),
    async remove(name, { now: atOnce = false } = {}) {
      const eraseAt = isoTime(clock.now() + GRACE_MS);
      const state = atOnce ? { state: 'erasing' as const } : { state: 'removed' as const, eraseAt };
      const entry = await changed(context, name, (before) =>
        // A second call gives no further days.
        before.state === state.state ? before : { ...before, since: now(), ...state },
      );
      const removed = await written(name, entry);
      return { ...removed, keys: atOnce ? await eraseClaimed(name, context, deps) : null };
    },
    async list() {
      const { entries } = await book.readAll();
      const ofFile = config.workspaces.filter(({ name }) => context.ofFile.has(name));
      const all = [
        ...ofFile.map(({ name, baseUrl = null }): HostedWorkspace => ({ name, baseUrl, ...OF_FILE })),
        ...[...entries].map(([name, { entry }]) => shown(name, entry, running.whyNot(name))),
      ];
      return all.sort((one, other) => one.name.localeCompare(other.name));
    },
  };
}

type Did = Awaited<ReturnType<HostedWorkspaces['put']>>['did'];

async function putEntry(
  name: string,
  { token, data = {}, ...options }: WorkspaceInput,
  context: AppContext,
): Promise<{ entry: WorkspaceEntry | null; did: Did }> {
  const { book, clock, config } = context;
  checkName(context, name);
  const code = Object.entries({ token, ...options }).find(([, value]) => typeof value === 'function');
  if (code !== undefined)
    throw usage(`workspaces: ${code[0]}: a function cannot be kept: such a workspace is in the configuration.`);
  const keyring = keyringOf(context);
  const { entries } = await book.readAll();
  if (entries.size >= MOST && !entries.has(name)) throw usage(`workspaces: there are ${MOST}; remove some first.`);
  const others = config.workspaces.filter((one) => one.name !== name);
  const before: { state: WorkspaceEntry['state'] | null } = { state: null };
  const entry = await book.change(name, (stored) => {
    refuseErasing(name, stored);
    before.state = stored?.state ?? null;
    const kept = token ?? tokenOf(keyring, name, { before: stored, baseUrl: options.baseUrl });
    // What is refused here would be refused by every process.
    parseWorkspace({ ...plain(options), name, token: kept, data }, others);
    const { baseUrl } = options;
    return {
      options: plain(options),
      sealed: keyring.seal({ token: kept, data }, { workspace: name, baseUrl }),
      state: stored?.state === 'paused' ? 'paused' : 'active',
      since: stored?.state === 'active' ? stored.since : isoTime(clock.now()),
    };
  });
  return { entry, did: before.state === null ? 'created' : before.state === 'removed' ? 'put back' : 'changed' };
}

const OF_FILE = { from: 'configuration', state: 'active', since: null, eraseAt: null, problem: null } as const;

/** @throws ChangefeedError CF_USAGE where it is not one of those that came at run time */
async function changed(
  context: AppContext,
  name: string,
  change: (before: WorkspaceEntry) => WorkspaceEntry,
): Promise<WorkspaceEntry | null> {
  checkName(context, name);
  keyringOf(context);
  return await context.book.change(name, (before) => {
    if (before === null) throw unknownWorkspace(name);
    refuseErasing(name, before);
    return change(before);
  });
}

function refuseErasing(workspace: string, before: WorkspaceEntry | null): void {
  if (before?.state !== 'erasing') return;
  const message = `Everything of the workspace "${workspace}" is being erased. Try again in a minute.`;
  throw new ChangefeedError('CF_WORKSPACE_BUSY', { workspace, message });
}

function checkName({ ofFile }: AppContext, name: string): void {
  if (!NAME.test(name))
    throw usage('workspaces: name: allowed: letters, digits, "-", "_" and ".", 1 to 64 characters.');
  if (ofFile.has(name)) throw usage(`workspaces: "${name}" is in the configuration: change it there.`);
}

function keyringOf({ keyring }: AppContext): Keyring {
  if (keyring !== null) return keyring;
  throw usage(
    'workspaces: there is no key to keep tokens with. Set CHANGEFEED_KEY (openssl rand -base64 32) for every process, and start them again.',
  );
}

/** The one that it has had, for the same address: who may change an address must not have the token sent there. */
function tokenOf(
  keyring: Keyring,
  name: string,
  { before, baseUrl }: { before: WorkspaceEntry | null; baseUrl: string },
): string {
  if (before === null) throw usage(`workspaces: "${name}" is new: give its token.`);
  if (before.options.baseUrl !== baseUrl)
    throw usage(`workspaces: the address of "${name}" is another one: give its token again.`);
  return keyring.open(before.sealed, { workspace: name, baseUrl }).token;
}

/** Without what is undefined, and what JSON does not keep. */
function plain<Options extends object>(options: Options): Options {
  return JSON.parse(JSON.stringify(options)) as Options;
}

function shown(name: string, entry: WorkspaceEntry | null, problem: string | null): HostedWorkspace {
  const { options = { baseUrl: null }, state = 'active', since = null, eraseAt = null } = entry ?? {};
  return { name, baseUrl: options.baseUrl, from: 'run time', state, since, eraseAt, problem };
}

function unknownWorkspace(name: string): ChangefeedError {
  return usage(`workspaces: no workspace "${name}" came at run time. "changefeed workspaces list" shows all.`);
}
