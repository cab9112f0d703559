/** Moves the log of events to the subscriptions' queues. One role of `changefeed start` as a process of its own. */
import { runProcess } from '../src/app/process.js';

await runProcess(['dispatch']);
