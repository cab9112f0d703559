import type { RecordStory } from '../../feed/list/explain.js';
import { listArgument, workspaceOption } from '../arguments.js';
import { argument, asText, defineFeedCommand, flag } from '../command.js';
import type { CrmRecord } from '../../crm/record.js';
import type { ChangeEvent } from '../../events/types.js';
import { eventWords, localTime, recordTitle } from '../print-event.js';
import { say } from '../answers.js';
import { count, printable } from '../text.js';

export const explain = defineFeedCommand({
  byLastValid: true,
  input: {
    list: listArgument('its list'),
    id: argument('its id', asText),
    workspace: workspaceOption('the workspace, if there are several'),
    verbose: flag('also name the fields that are compared'),
    json: flag('print it as JSON'),
  },
  async run({ list, id, workspace, verbose = false, json = false }, { feed }, io) {
    const story = await feed.lists.explain(list, id, workspace);
    if (json) io.out(JSON.stringify(story));
    else {
      const record = await feed.lists.record(list, id, workspace);
      const events = story.known ? await feed.lists.events(list, id, workspace) : [];
      say(io, storyText(story, { record, events, verbose }));
    }
    return story.known ? 0 : 1;
  },
});

const PLACES = 60;

function storyText(
  story: RecordStory,
  { record, events, verbose }: { record: CrmRecord | null; events: readonly ChangeEvent[]; verbose: boolean },
): string {
  const name = printable(`${story.list} ${story.id}`);
  if (story.erased) return `${name}: this record was erased, and is left out.`;
  if (!story.known) return `${name}: no sweep has shown this record.`;
  const { missing, gone, discarded, page, lastSweep } = story;
  const states = [
    page === null ? 'on no page of the last complete sweep' : `on page ${page} of the last complete sweep`,
    missing === null ? '' : `missing for ${missing.sweeps} complete sweeps`,
    gone === null ? '' : gone.dropped === true ? 'from another source, dropped' : 'removed',
    discarded === null ? '' : 'its removal was discarded',
  ].filter((text) => text !== '');
  const title = titleOf(record, events);
  const byId = new Map(events.map((event) => [event.id, event]));
  const decisions = story.decisions.flatMap((decision) => decisionLines(decision, byId));
  const leftOut = story.leftOut.map(({ field, rule }) => `  ${printable(field)}  (${printable(rule)})`);
  const { compared } = story;
  return [
    title === undefined ? name : `${title}  ${name}`,
    ...(decisions.length > 0
      ? ['Last decisions, oldest first:', ...decisions]
      : ['No decision yet: the record has not changed.']),
    // Not a number of events: it jumps with each epoch.
    `${story.sequence === 0 ? 'No event so far' : `Last sequence ${story.sequence}`}; ${states.join('; ')}.`,
    `Kept: ${story.kept}. Last complete sweep: ${lastSweep === null ? 'none' : localTime(lastSweep.completedAt)}.`,
    ...(leftOut.length > 0 ? ['Left out, with the rule:', ...leftOut] : []),
    verbose
      ? `Compared: ${printable(compared.join(', ')) || 'nothing'}`
      : `Compared: ${count(compared.length, 'field')}${compared.length === 0 ? '' : '; --verbose names them'}.`,
  ].join('\n');
}

/** A record that is gone has its name in its last event. */
function titleOf(record: CrmRecord | null, events: readonly ChangeEvent[]): string | undefined {
  const last = events.findLast(({ data }) => data.after !== null || data.before !== null)?.data;
  const known = record ?? last?.after ?? last?.before;
  return known == null ? undefined : recordTitle(known, PLACES);
}

function decisionLines(
  { at, sweep: _, what, event: id = '', fields, ...rest }: RecordStory['decisions'][number],
  events: ReadonlyMap<string, ChangeEvent>,
): string[] {
  const event = events.get(id);
  const changes = event === undefined ? [] : eventWords(event, PLACES).changes;
  const shown = changes.length === 0 && fields !== undefined ? { fields, ...rest } : rest;
  const details = Object.entries(shown).map(
    ([name, value]) => `${name} ${Array.isArray(value) ? value.join(', ') : String(value)}`,
  );
  return [
    `  ${[localTime(at), what, ...details.map(printable)].join('  ')}`,
    ...changes.map((change) => `    ${change}`),
  ];
}
