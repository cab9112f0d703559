import type { RecordStory } from '../../app/changefeed.js';
import { listArgument, workspaceOption } from '../arguments.js';
import { argument, asText, defineFeedCommand, flag } from '../command.js';
import { count, fitted, printable } from '../text.js';

export const explain = defineFeedCommand({
  input: {
    list: listArgument('its list'),
    id: argument('its id', asText),
    workspace: workspaceOption('the workspace, if there are several'),
    json: flag('print it as JSON'),
  },
  async run({ list, id, workspace, json = false }, { feed }, io) {
    const story = await feed.lists.explain(list, id, workspace);
    io.out(json ? JSON.stringify(story) : fitted(storyText(story), io.columns));
    return story.known ? 0 : 1;
  },
});

function storyText(story: RecordStory): string {
  if (!story.known) return `List "${story.list}": no sweep has shown a record "${story.id}".`;
  const { missing, gone, doubt, quarantined, page, lastSweep } = story;
  const states = [
    page === null ? 'on no page of the last complete sweep' : `on page ${page} of the last complete sweep`,
    missing === null ? '' : `missing for ${missing.sweeps} complete sweeps`,
    gone === null ? '' : gone.dropped === true ? 'from another source, dropped' : 'removed',
    doubt === null ? '' : 'shown with earlier contents: the next sweep decides',
    quarantined ? "quarantined until its list's schema change is decided" : '',
  ].filter((text) => text !== '');
  const leftOut = story.leftOut.map(({ field, rule }) => `  ${printable(field)}  (${rule})`);
  const decisions = story.decisions.map(decisionLine);
  return [
    `${story.list} ${story.id}: ${count(story.sequence, 'event')} so far, ${states.join('; ')}.`,
    `Kept: ${story.kept}. Last complete sweep: ${lastSweep === null ? 'none' : lastSweep.completedAt}.`,
    `Compared: ${printable(story.compared.join(', ')) || 'nothing'}`,
    ...(leftOut.length > 0 ? ['Left out, with the rule:', ...leftOut] : []),
    ...(decisions.length > 0
      ? ['Last decisions, oldest first:', ...decisions]
      : ['No decision yet: the record has not changed.']),
  ].join('\n');
}

function decisionLine({ at, sweep, what, ...rest }: RecordStory['decisions'][number]): string {
  const details = Object.entries(rest).map(
    ([name, value]) => `${name} ${Array.isArray(value) ? value.join(', ') : String(value)}`,
  );
  return `  ${at}  ${[what, ...details.map(printable), `sweep ${sweep}`].join('  ')}`;
}
