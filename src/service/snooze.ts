/** Puts off what is told of a record that is unchanged. */
import type { Inspector } from '../actions/inspector.js';
import { titleOfRecord } from '../events/describe.js';
import { createUnchangedStore } from '../feed/unchanged/unchanged-store.js';
import { isoTime } from '../kit/clock.js';
import { usage } from '../kit/errors.js';
import { readTime } from '../kit/iso-time.js';
import { printable } from '../kit/printable.js';
import type { AppContext } from '../../workers/context.js';
import { askedOf } from '../../workers/unchanged.js';
import { listIn, storedRecord, type Workspaces } from '../../workers/workspaces.js';

export function createSnooze(
  { redis, keys, clock, subscriptions }: AppContext,
  workspaces: Workspaces,
): Inspector['snooze'] {
  return async (list, id, until, name) => {
    const workspace = workspaces.choose(name);
    listIn(workspace, list);
    const givenMs = readTime(until, workspace.config.timeZone);
    if (givenMs === null)
      throw usage(
        `snooze: "${printable(until)}" is not a time: give one such as 2026-12-01 or 2026-12-01T09:00+09:00.`,
      );
    // The subscriptions may change while the feed runs.
    const asking = subscriptions.filter((one) => askedOf([one], workspace).some((asked) => asked.list === list));
    if (asking.length === 0)
      throw usage(`snooze: no subscription asks for records of the list "${list}" that are \`unchanged\`.`);
    const record = await storedRecord(workspace.store, list, id);
    if (record === null) throw usage(`snooze: the list "${list}" has no record "${printable(id)}".`);
    // What was left out meanwhile would never be told if the end were before the last sweep.
    const untilMs = Math.max(givenMs, clock.now());
    const store = createUnchangedStore({ redis, keys, workspace: workspace.name });
    await store.snooze(list, { record: id, ms: untilMs });
    return { title: titleOfRecord(record), until: isoTime(untilMs), subscriptions: asking.map((one) => one.name) };
  };
}
