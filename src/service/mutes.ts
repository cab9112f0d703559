/** Mutes records for subscriptions that tell people: the others keep copies, which would be wrong. */
import type { Inspector, Muted } from '../actions/inspector.js';
import type { MutedRecord } from '../delivery/handlers/handler.js';
import { createMutes } from '../delivery/mutes.js';
import { titleOfRecord } from '../events/describe.js';
import { isoTime } from '../kit/clock.js';
import { usage } from '../kit/errors.js';
import { readTime } from '../kit/iso-time.js';
import { printable } from '../kit/printable.js';
import { didYouMean } from '../kit/schema/did-you-mean.js';
import type { AppContext } from '../../workers/context.js';
import { listIn, storedRecord, type Workspace, type Workspaces } from '../../workers/workspaces.js';

export function createMuting(
  { redis, keys, clock, subscriptions }: AppContext,
  workspaces: Workspaces,
): Pick<Inspector, 'mute' | 'unmute' | 'muted'> {
  const mutesOf = ({ name }: Workspace) => createMutes({ redis, keys, workspace: name });
  const known = (name: string): string => {
    const names = subscriptions.map((one) => one.name);
    const found = subscriptions.find((one) => one.name === name);
    if (found === undefined)
      throw usage(
        `There is no subscription "${printable(name)}"${didYouMean(name, names)}. Known: ${names.join(', ')}.`,
      );
    if (found.mutable === true) return name;
    throw usage(`mute: "${name}" does not tell people: records can be muted for messages and rules.`);
  };
  return {
    async mute({ subscription, workspace: name, list, id, until }) {
      const workspace = workspaces.choose(name);
      listIn(workspace, list);
      const untilMs = until === undefined ? null : readTime(until, workspace.config.timeZone);
      if (until !== undefined && untilMs === null)
        throw usage(
          `mute: "${printable(until)}" is not a time: give one such as 2026-12-01 or 2026-12-01T09:00+09:00.`,
        );
      const record = { subscription: known(subscription), list, id };
      const { changed, ...muted } = await mutesOf(workspace).mute(record, untilMs, clock.now());
      return { ...(await described(workspace, { ...record, ...muted })), changed };
    },
    async unmute({ subscription, workspace: name, list, id }) {
      const workspace = workspaces.choose(name);
      listIn(workspace, list);
      return await mutesOf(workspace).unmute({ subscription: known(subscription), list, id });
    },
    async muted(name) {
      const subscription = known(name);
      const all = workspaces.all().map(async (workspace) => {
        const records = await mutesOf(workspace).all(clock.now());
        const own = records.filter((one) => one.subscription === subscription);
        return await Promise.all(own.map((one) => described(workspace, one)));
      });
      return (await Promise.all(all)).flat();
    },
  };
}

async function described(
  { name: workspace, store }: Workspace,
  { list, id, untilMs }: MutedRecord & { untilMs: number | null },
): Promise<Muted> {
  const record = await storedRecord(store, list, id);
  const title = record === null ? null : titleOfRecord(record);
  return { workspace, list, id, title, until: untilMs === null ? null : isoTime(untilMs) };
}
