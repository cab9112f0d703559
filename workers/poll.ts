/** Sweeps the lists on schedule. One role of `changefeed start` as a process of its own. */
import { runProcess } from '../src/app/process.js';

await runProcess(['poll']);
