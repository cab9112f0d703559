/** Everything in one process, as `changefeed start` does. */
import { ROLES } from '../src/app.js';
import { runProcess } from '../src/service.js';

await runProcess(ROLES);
