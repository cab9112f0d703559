/**
 * A seeded day of the sandbox, swept every hour, gives the events that were recorded: the same types, records, sequences and ids in the same
 * order per record. `recorded-day.txt` has a line for each type, with the number of its events and a digest of them, and one for all of them.
 * A change of that file is a change of what handlers get: it needs a reason in the commit.
 *
 *   npx vitest run test/day -u                           # records it again
 *   RECORD_DAY=/tmp/day.txt npx vitest run test/day      # writes every event, to compare two states of the code with diff
 */
import { createHash, randomUUID } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { createSandbox } from '../../sandbox/sandbox.js';
import { systemClock, type Clock } from '../../src/kit/clock.js';
import { useRedis } from '../support/redis.js';
import { eventsOf, openFeed } from '../support/feed.js';

const START = Date.UTC(2026, 2, 2, 15);
const HOUR_MS = 3_600_000;
const HOURS = 24;
const CHANGES_PER_HOUR = 12;
const EPOCH = 1_000;
const HISTORIES = { people_history: true, organization_history: true, lead_history: true, deal: true, lead: true };

const redis = useRedis();

it('recorded day: the same changes give the same events, ids and sequences as ever', async () => {
  let nowMs = START;
  const clock: Clock = { ...systemClock, now: () => nowMs, monotonic: () => nowMs };
  await beginEpoch();
  const sandbox = createSandbox({ seed: 7, start: START, people: 120, history: 60, activity: 60, limit: null, clock });
  const { url: baseUrl, token } = await sandbox.start();
  const budget = { requests: 100_000, perSeconds: 1 };
  const feed = await openFeed(
    redis,
    { workspaces: [{ name: 'day', baseUrl, token, budget, lists: HISTORIES }] },
    { clock },
  );
  for (let hour = 0; hour < HOURS; hour++) {
    expect((await feed.sweep()).filter(({ outcome }) => outcome !== 'complete')).toEqual([]);
    sandbox.step(CHANGES_PER_HOUR);
    nowMs += HOUR_MS;
  }
  await feed.sweep();
  const events = await eventsOf(feed);
  await sandbox.stop();
  const first = EPOCH * 2 ** 20;
  const lines = events.map(({ type, subject, id, data }) => `${type} ${subject} +${data.sequence - first} ${id}`);
  // Records are read side by side: only of one record is the order always the same.
  const ofRecords = [...new Set(lines.map(recordOf))]
    .sort()
    .flatMap((record) => lines.filter((line) => recordOf(line) === record));
  const file = process.env['RECORD_DAY'];
  if (file !== undefined) writeFileSync(file, `${ofRecords.join('\n')}\n`);
  const types = [...new Set(lines.map(typeOf))].sort();
  const recorded = types.map((type) =>
    digest(
      type,
      ofRecords.filter((line) => typeOf(line) === type),
    ),
  );
  await expect(`${[...recorded, digest('all', ofRecords)].join('\n')}\n`).toMatchFileSnapshot('./recorded-day.txt');
});

/** `crm.person.created 7 3f0c…` */
function digest(name: string, lines: readonly string[]): string {
  return `${name} ${lines.length} ${createHash('sha256').update(lines.join('\n')).digest('hex').slice(0, 32)}`;
}

const typeOf = (line: string): string => line.slice(0, line.indexOf(' '));

/** `person 0198f0aa-…` */
function recordOf(line: string): string {
  return line.replace(/^crm\.(\w+)\.\w+ (\S+) .*$/, '$1 $2');
}

/** Sequences begin with the epoch of a state, which is a time: here it is always the same. */
async function beginEpoch(): Promise<void> {
  const server = /^run_id:(\w+)/m.exec(await redis.redis.info('server'))?.[1];
  const state = {
    format: 5,
    id: randomUUID(),
    since: new Date(START).toISOString(),
    lostAt: null,
    epoch: EPOCH,
    server,
  };
  await redis.redis.set(redis.keys.state('day'), JSON.stringify(state));
}
