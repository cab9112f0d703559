/** Runs the handlers. One role of `changefeed start` as a process of its own. */
import { runProcess } from '../src/app/process.js';

await runProcess(['handle']);
