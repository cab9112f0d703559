/** Moves the log of events to the subscriptions' queues. One role of `changefeed start` as a process of its own. */
import { runProcess } from '../src/cli/run-process.js';

await runProcess(['start', '--only', 'dispatch', ...process.argv.slice(2)]);
