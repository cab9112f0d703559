/**
 * What detection costs when every record of every page changed: no server, no Redis, CPU time only, so that a busy machine
 * affects it less. Prints JSON: microseconds of CPU per record, median and minimum of the rounds.
 *   npm run bench -- detect [records] [rounds]
 */
import { compileRules } from '../src/feed/detect/rules.js';
import { TrackedFields, schemaFrom } from '../src/feed/detect/schema-drift/schema.js';
import { noCounts } from '../src/feed/list/counts.js';
import { classifyPage, type ClassifyOptions } from '../src/feed/list/classify/classify-page.js';

import type { SerialisedRecord, RecordWrite } from '../src/feed/store/sweep-state.js';
import type { SweepStore } from '../src/feed/store/sweep-store.js';
import { person } from './support/person.js';

const PAGE = 50;
const [records = 2_000, rounds = 14] = process.argv.slice(2).map(Number);
const rules = compileRules('people');
const states = new Map<string, SerialisedRecord>();
/** As Redis would answer: every state is a new object. */
const store = {
  digests: (_list: string, keys: readonly string[]) => Promise.resolve(keys.map(() => null)),
  members: () => Promise.resolve(null),
  records: (_list: string, keys: readonly string[]) =>
    Promise.resolve(
      keys.map((key) => {
        const state = states.get(key);
        return state === undefined ? null : { ...state };
      }),
    ),
} as unknown as SweepStore;

function pageOf(page: number, round: number): ReturnType<typeof person>[] {
  return Array.from({ length: PAGE }, (_, index) => {
    const record = person(page * PAGE + index);
    return { ...record, 이름: `${String(record['이름'])} (${round})` };
  });
}

function givenIn(round: number): Omit<ClassifyOptions, 'records' | 'memory'> {
  const [workspace, sweep, observedAt] = ['bench', `s${round}`, '2026-03-01T00:00:00.000Z'];
  const begun = { cursor: null, pages: 0, counts: noCounts(), firstPage: null };
  return {
    asked: { by: 'walk' },
    page: 1,
    rules,
    checkpoint: { sweepId: sweep, startedAt: observedAt, mode: 'changes', ...begun },
    baseline: null,
    drifted: [],
    askedAtMs: null,
    unreadable: [],
    guard: null,
    observation: { workspace, sweep, observedAt },
  };
}

function emptyMemory(): ClassifyOptions['memory'] {
  const schema = schemaFrom([]);
  return {
    seen: new Map(),
    skipped: false,
    hasUnconfirmed: false,
    schema,
    tracked: new TrackedFields(schema),
  };
}

async function judged(options: ClassifyOptions): Promise<RecordWrite[]> {
  const page = await classifyPage(store, options);
  return page.outcome === 'classified' ? page.changes.writes : [];
}

async function cpuPerRecord(round: number): Promise<number> {
  let spent = 0;
  for (let page = 0; page < records / PAGE; page += 1) {
    const memory = emptyMemory();
    const options = { ...givenIn(round), records: pageOf(page, round), memory };
    const started = process.cpuUsage();
    const writes = await judged(options);
    const { user, system } = process.cpuUsage(started);
    spent += user + system;
    for (const { key, state } of writes) if (state !== null) states.set(key, state);
  }
  return spent / records;
}

const spent: number[] = [];
for (let round = 0; round < rounds; round += 1) spent.push(await cpuPerRecord(round));
// The first rounds create the records and warm the compiler up.
const counted = spent.slice(3).sort((a, b) => a - b);
const tenth = (value: number | undefined): number => Math.round((value ?? 0) * 10) / 10;
console.log(
  JSON.stringify({
    unit: 'µs of CPU per record',
    records,
    rounds,
    median: tenth(counted[counted.length >> 1]),
    least: tenth(counted[0]),
  }),
);
