import { eventSheet } from '../../actions/sheets.js';
import { compileActor } from '../../events/actor.js';
import type { ChangeEvent } from '../../events/types.js';
import { logOffset, typeOption, workspaceOption } from '../arguments.js';
import { asText, defineFeedCommand, flag, negatedFlag, option } from '../command.js';
import { languageOf } from '../answers.js';
import { printEvent } from '../print-event.js';
import { writeSheet } from '../written-rows.js';
import { printable, widthOf } from '../text.js';

/** Below the event, behind its time. */
const INDENT = ' '.repeat(10);

export const tail = defineFeedCommand({
  byLastValid: true,
  input: {
    csv: flag('for a spreadsheet, a row for each changed field'),
    json: flag('one CloudEvent per line'),
    from: option('offset', 'a log id, a time, "beginning" or "now" (default: now)', logOffset),
    type: typeOption('only these event types, separated by commas (* allowed)'),
    actor: option(
      'who',
      'only changes made by: user, workflow, sequence, api, field, unknown, an id, part of a name',
      asText,
    ),
    workspace: workspaceOption('only this workspace'),
    ids: flag('below each event: its place in the log, its id and the id of its record'),
    follow: negatedFlag('stop at the end of the log'),
  },
  async run(
    { csv = false, json = false, from = 'now', type, actor, follow, workspace, ids = false },
    { feed, config },
    io,
  ) {
    const { signal } = io;
    const language = languageOf(config, io.env);
    const isWanted = actor === undefined ? () => true : compileActor(actor);
    async function* events() {
      for await (const one of feed.tail({ from, types: type, workspace, follow, signal }))
        if (isWanted(one.event)) yield one;
    }
    if (csv) return await writeSheet(eventSheet(events()), io);
    for await (const { logId, event } of events()) {
      if (json) io.out(JSON.stringify(event));
      else {
        await printEvent(event, feed.lists, { ...io, language });
        if (ids) io.out(io.colours.out.dim(idsText(logId, event, io.columns)));
      }
    }
    return 0;
  },
});

/** As `replay`, `dead` and `explain` take them. Not cut, because ids are copied; two lines if narrow. */
function idsText(logId: string, { id, subject }: ChangeEvent, columns = Infinity): string {
  const [first, second] = [`${INDENT}log ${logId}  event ${id}`, `record ${printable(subject)}`];
  const line = `${first}  ${second}`;
  return widthOf(line) <= columns ? line : `${first}\n${INDENT}${second}`;
}
