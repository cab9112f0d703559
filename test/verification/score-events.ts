/**
 * Scores a stream of events against the journal of a sandbox (`npm run verify:events -- --journal J --events E`) and prints the score as
 * JSON. Exits 1 when it is not perfect.
 */
import { readFile } from 'node:fs/promises';
import { parseArgs } from 'node:util';
import { parseEvents, parseJournal } from '../../sandbox/verify/read.js';
import { scoreEvents } from '../../sandbox/verify/score.js';

const { values } = parseArgs({ options: { journal: { type: 'string' }, events: { type: 'string' } } });
if (values.journal === undefined || values.events === undefined)
  throw new Error('Name both files: npm run verify:events -- --journal journal.ndjson --events events.ndjson');

const [journal, events] = await Promise.all([readFile(values.journal, 'utf8'), readFile(values.events, 'utf8')]);
const score = scoreEvents({ journal: parseJournal(journal), events: parseEvents(events) });
process.stdout.write(`${JSON.stringify(score, null, 2)}\n`);
const { recall, falseEvents, actors, orderViolations, sequenceGaps } = score;
process.exitCode = recall === 1 && actors.wrong + falseEvents + orderViolations + sequenceGaps === 0 ? 0 : 1;
