/** Runs the handlers. One role of `changefeed start` as a process of its own. */
import { runProcess } from '../src/cli/run-process.js';

await runProcess(['start', '--only', 'handle', ...process.argv.slice(2)]);
