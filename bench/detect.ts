/**
 * What detection costs when every record of every page changed: no server, no Redis, CPU time only, so that a busy machine
 * affects it less. Prints JSON: microseconds of CPU per record, median and minimum of the rounds.
 *   npm run bench -- detect [records] [rounds]
 */
import { compileRules } from '../src/feed/detect/rules.js';
import { comparePage, type ComparedPage } from '../src/feed/list/compare.js';
import { FeedList, type ListDeps } from '../src/feed/list/list.js';
import { systemClock } from '../src/kit/clock.js';
import { silentLog } from '../src/kit/log.js';
import { noCounts, type SerialisedRecord, type RecordWrite } from '../src/feed/store/sweep-state.js';
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

function listIn(round: number): FeedList {
  const leased = { token: 't', signal: new AbortController().signal, epoch: undefined };
  const begun = { cursor: null, pages: 0, counts: noCounts(), firstPage: null };
  const checkpoint = {
    sweepId: `s${round}`,
    startedAt: '2026-03-01T00:00:00.000Z',
    mode: 'changes',
    ...begun,
  } as const;
  const state = { baselineAt: null, quiet: false, lastSweep: null };
  // As nothing of the list was swept before, no new record is one too many.
  const options = {
    list: 'people',
    rules,
    baseline: 'quiet',
    creations: { maxShare: 1, maxCount: 0 },
    ...leased,
  } as const;
  const deps = { workspace: 'bench', store, clock: systemClock, log: silentLog } as unknown as ListDeps;
  return new FeedList(deps, options, { checkpoint, cursors: [], cutOff: false, state });
}

async function judged(list: FeedList, page: ComparedPage['page']): Promise<RecordWrite[]> {
  const compared = await comparePage(list, { by: 'walk', number: 1, page, askedAtMs: null });
  return 'about' in compared ? [] : compared.writes;
}

async function cpuPerRecord(round: number): Promise<number> {
  let spent = 0;
  for (let page = 0; page < records / PAGE; page += 1) {
    const list = listIn(round);
    const answer = { list: 'people', records: pageOf(page, round), nextCursor: null, bytes: 0 };
    const started = process.cpuUsage();
    const writes = await judged(list, answer);
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
