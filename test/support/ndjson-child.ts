/** Handles the given number of events with `ndjson` on standard output, and reports the result on standard error. */
import { ndjson } from '../../src/delivery/handlers/ndjson/ndjson.js';
import { handlerContext, sampleEvent } from './handler-fixtures.js';

const count = Number(process.argv[2]);
const { handle, close } = ndjson({ name: 'out' });
let failed = '';
for (let number = 0; number < count && failed === ''; number += 1) {
  try {
    await handle(sampleEvent(`record-${number}`), handlerContext());
  } catch (error) {
    failed = error instanceof Error ? error.message : String(error);
  }
}
await close?.();
process.stderr.write(failed === '' ? 'all handled\n' : `${failed}\n`);
