/** Whom a rule about what has not happened would name today: by the stored records, as the log has no such events before somebody asks. */
import { enrich } from '../delivery/run/attempt.js';
import { titleOfEvent } from '../events/describe.js';
import { explainSelection } from '../events/pattern.js';
import type { ChangeEvent } from '../events/types.js';
import { unchangedNow } from '../feed/unchanged/now.js';
import { isoTime } from '../kit/clock.js';
import type { AppContext } from '../../workers/context.js';
import { askedOf } from '../../workers/unchanged.js';
import type { Workspace, Workspaces } from '../../workers/workspaces.js';
import type { Match, MatchesOf } from './preview-rule.js';

const NOT_YET: Match['refusedBy'] = { option: 'unchanged', condition: null, wanted: null, found: null };

interface Found {
  workspace: Workspace;
  event: ChangeEvent;
  refusedBy: Match['refusedBy'];
}

/** The record that became so last comes first. */
export function createUnchangedMatches({ redis, keys, clock }: AppContext, workspaces: Workspaces): MatchesOf {
  return async ({ subscription }, { search, examples = 10, workspace: only, signal }) => {
    const explain = explainSelection(subscription);
    const isSought = (event: ChangeEvent): boolean =>
      search === undefined || event.subject === search || titleOfEvent(event)?.includes(search) === true;
    let [read, selected, found] = [0, 0, [] as Found[]];
    const take = (workspace: Workspace, event: ChangeEvent, isDue: boolean): void => {
      const refusedBy = isDue ? explain(event) : NOT_YET;
      read += 1;
      if (refusedBy === null) selected += 1;
      if (refusedBy === null || search !== undefined) found.push({ workspace, event, refusedBy });
    };
    for (const workspace of workspaces.all().filter(({ name }) => only === undefined || name === only)) {
      const scope = { redis, keys, workspace: workspace.name };
      const { timeZone } = workspace.config;
      for (const { list: name, stretch } of askedOf([subscription], workspace)) {
        const list = workspace.lists.get(name)?.descriptor;
        if (list === undefined) continue;
        for await (const step of unchangedNow({ scope, list, stretch, clock, timeZone })) {
          for (const { event, isDue } of step) if (isSought(event)) take(workspace, event, isDue);
          found = found.sort((one, other) => (one.event.time < other.event.time ? 1 : -1)).slice(0, examples);
          if (signal?.aborted === true) break;
        }
      }
    }
    const matches = found.map(async ({ workspace: { name, surroundings }, event, refusedBy }): Promise<Match> => {
      const { language = surroundings.language, include } = subscription;
      const enriched = await enrich(event, include, surroundings);
      return { workspace: name, event: enriched, refusedBy, logId: '', language, timeZone: surroundings.timeZone };
    });
    const nothing = { byType: {}, perDay: [], refused: [], tried: [], next: null };
    const tried = { subscription: subscription.name, since: isoTime(clock.now()), read, selected, ...nothing };
    return { tried, matches: await Promise.all(matches) };
  };
}
