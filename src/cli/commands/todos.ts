import { asText, defineCommand, flag, option, withFeed } from '../command.js';
import { todosText } from '../print-todos.js';

/** Counted from the stored records; only reads. */
export const todos = defineCommand({
  name: 'todos',
  description: 'todos: open, due today, overdue, completed; in total, per person in charge, per team',
  input: {
    since: option('when', 'begin of the period: a duration or a time (default: 30d)', asText),
    workspace: option('name', 'only this workspace', asText),
    json: flag('print it as JSON'),
  },
  async run({ json = false, workspace, since, config }, io) {
    const report = await withFeed(io, config, ({ feed }) => feed.todos({ workspace, since }));
    io.out(json ? JSON.stringify(report) : todosText(report, io.colours.out));
    return 0;
  },
});
