/** Sweeps the lists on schedule. One role of `changefeed start` as a process of its own. */
import { runProcess } from '../src/service.js';

await runProcess(['poll']);
