/** Asks the histories of records. */
import type { Histories } from '../actions/feed.js';
import { actorNamed } from '../events/actor.js';
import { recordsAsOf } from '../feed/history/as-of.js';
import { recordHistory } from '../feed/history/record-history.js';
import { restorePlan } from '../feed/history/restore-plan.js';
import type { Rules } from '../feed/detect/rules.js';
import type { SweepStore } from '../feed/store/sweep-store.js';
import { isoTime, type Clock } from '../kit/clock.js';
import { usage } from '../kit/errors.js';
import { readTime } from '../kit/iso-time.js';
import { wantedBy } from './find-records.js';
import { listIn, type Workspaces } from '../../workers/workspaces.js';

const USUAL_LIMIT = 50;

interface Asked {
  store: SweepStore;
  rules: Rules;
  /** @throws ChangefeedError CF_USAGE */
  msOf: (text: string) => number;
}

export function createHistories(workspaces: Workspaces, clock: Clock): Histories {
  const of = (list: string, name: string | undefined): Asked => {
    const workspace = workspaces.choose(name);
    const { rules } = listIn(workspace, list);
    const { ids, recognisedOnly } = rules.list;
    if (recognisedOnly)
      throw usage(`The list "${list}" has no history: its rows are only recognised, and never change.`);
    if (ids === 'optional')
      throw usage(`The list "${list}" has no history: its rows may have no id, so a changed row is another one.`);
    if (workspace.config.history === null)
      throw usage(`No history is kept: \`history\` of the workspace "${workspace.name}" is false.`);
    const msOf = (text: string): number => {
      const ms = readTime(text, workspace.config.timeZone);
      if (ms === null) throw usage(`"${text}" is not a time: give one such as 2026-09-30 or 2026-09-30T18:00+09:00.`);
      if (ms > clock.now()) throw usage(`${text} is in the future.`);
      return ms;
    };
    return { store: workspace.store, rules, msOf };
  };
  return {
    async history({ list, id, workspace, limit = USUAL_LIMIT, before, asOf }) {
      const { store, rules, msOf } = of(list, workspace);
      if (!Number.isInteger(limit) || limit < 1 || limit > 1_000)
        throw usage('history: limit: give a whole number from 1 to 1,000.');
      if (before !== undefined && !/^\d{1,15}-\d{1,19}$/u.test(before))
        throw usage('history: before: give `next` of the answer before.');
      return await recordHistory(store, {
        id,
        rules,
        limit,
        from: before,
        ...(asOf !== undefined && { atMs: msOf(asOf) }),
      });
    },
    async *recordsAsOf(list, at, { workspace, ...query } = {}) {
      const { store, msOf } = of(list, workspace);
      const isWanted = wantedBy({ ...query, now: isoTime(clock.now()) });
      for await (const record of recordsAsOf(store, { list, atMs: msOf(at) })) if (isWanted(record)) yield record;
    },
    async *restorePlan({ list, from, to, by, workspace }) {
      const { store, rules, msOf } = of(list, workspace);
      const [fromMs, toMs] = [msOf(from), to === undefined ? clock.now() : msOf(to)];
      if (fromMs > toMs) throw usage('restore-plan: the period ends before it begins.');
      yield* restorePlan(store, { rules, fromMs, toMs, ...(by !== undefined && { isBy: actorNamed(by) }) });
    },
    historySince: async (list, workspace) => await of(list, workspace).store.historySince(list),
  };
}
