import { workspaceOption } from '../arguments.js';
import { asText, defineFeedCommand, flag, option } from '../command.js';
import { formatsOf } from '../language.js';
import { todosText } from '../print-todos.js';

export const todos = defineFeedCommand({
  input: {
    since: option('when', 'begin of the period: a duration or a time (default: 30d)', asText),
    workspace: workspaceOption('only this workspace'),
    json: flag('print it as JSON'),
  },
  async run({ json = false, workspace, since }, { feed, config }, io) {
    const report = await feed.todos({ workspace, since });
    io.out(json ? JSON.stringify(report) : todosText(report, io.colours.out, io.columns, formatsOf(config, report.at)));
  },
});
