/** Runs the handlers. One role of `changefeed start` as a process of its own. */
import { runProcess } from '../src/service.js';

await runProcess(['handle']);
