/** Everything in one process: `changefeed start`. */
import { runProcess } from '../src/cli/run-process.js';

await runProcess(['start', ...process.argv.slice(2)]);
