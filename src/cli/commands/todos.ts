import { openService } from '../../app/process.js';
import type { GlobalOptions, Io } from '../io.js';
import { todosText } from '../print-todos.js';

export interface TodosOptions extends GlobalOptions {
  json?: boolean;
  workspace?: string;
  since?: string;
}

/** `changefeed todos`: counted from what is remembered; looks, and changes nothing. */
export async function todos({ json = false, config: path, workspace, since }: TodosOptions, io: Io): Promise<number> {
  const { feed } = await openService(io, { path, quiet: true });
  try {
    const report = await feed.todos({ workspace, since });
    io.out(json ? JSON.stringify(report) : todosText(report, io.colours.out));
  } finally {
    await feed.stop();
  }
  return 0;
}
