/** Everything in one process, as `changefeed start` does. */
import { ROLES } from '../src/app/changefeed.js';
import { runProcess } from '../src/app/process.js';

await runProcess(ROLES);
