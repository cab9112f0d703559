/** Sweeps the lists on schedule. One role of `changefeed start` as a process of its own. */
import { runProcess } from '../src/cli/run-process.js';

await runProcess(['start', '--only', 'poll', ...process.argv.slice(2)]);
