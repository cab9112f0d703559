/**
 * One real event of every type, for docs/events.md. Sweeps of a sandbox find them, on a clock of the test, so a second run finds the
 * same events with the same ids and times. Rows of history and activity never change in the sandbox: there the answers are changed.
 */
import type { ReadApi } from '../../src/feed/api/read-api.js';
import { createActors } from '../../src/feed/list/actors.js';
import { createLists, readyMadeLists, type BuiltInList } from '../../src/crm/lists/lists.js';
import type { UncheckedRecord } from '../../src/crm/record.js';
import type { Baseline } from '../../src/feed/detect/detect.js';
import { compileRules } from '../../src/feed/detect/rules.js';
import { EVENT_TYPES, NOTICE_TYPES } from '../../src/events/catalogue.js';
import { firstSequenceOf } from '../../src/events/epoch.js';
import { buildNotice, snapshotComplete } from '../../src/events/notices.js';
import type { ChangeEvent, NoticeKind } from '../../src/events/types.js';
import type { Clock } from '../../src/kit/clock.js';
import { silentLog } from '../../src/kit/log.js';
import { createSandbox } from '../../sandbox/sandbox.js';
import { createCreditStore } from '../../src/feed/store/credits.js';
import { Keys } from '../../src/redis/keys.js';
import { createNoticeStore } from '../../src/log/notices.js';
import { createSweepStore } from '../../src/feed/store/sweep-store.js';
import { createTodoStore } from '../../src/feed/todos/todo-store.js';
import { sweepList } from '../../src/feed/list/loop.js';
import { emitDueTodos } from '../../src/feed/todos/monitor.js';
import { FaultSchedule } from '../model/fault-schedule.js';
import { inProcessApi } from '../model/in-process-api.js';
import { noticeRows } from './notice-table.js';
import { readyMadeRows } from './ready-made-rows.js';
import type { TestRedis } from './redis.js';
import { AT, EARLIER, failure, HEALTHY_REDIS, list, onePage, problemsWith, process, subscription } from './statuses.js';

const WORKSPACE = 'acme';
const ALL_ROLES = ['poll', 'dispatch', 'handle'];
const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const WATCH = { timeZone: 'Asia/Seoul', dueSoonMs: 24 * HOUR_MS };
/** Enough rows for a change of the schema, few enough that a person in the examples has a short story. */
const SIZES = { people: 24, organizations: 12, memos: 12, todos: 12, history: 12, activity: 12 };
const GROWING = ['history', 'activity'] as const;

export async function eventExamples(redis: TestRedis): Promise<Map<string, ChangeEvent>> {
  const found = [...(await eventsOfALife(redis)), ...(await noticeExamples(redis))];
  const all = [...EVENT_TYPES, ...NOTICE_TYPES].map((type) => [type, bestOf(found, type)] as const);
  return new Map(all);
}

/** The first, an edit if there is one. Redis keeps sets in any order, so events of one moment are taken by their ids. */
function bestOf(events: readonly ChangeEvent[], type: string): ChangeEvent {
  const key = ({ time, id }: ChangeEvent): string => `${time} ${id}`;
  const sorted = events.filter((event) => event.type === type).sort((a, b) => (key(a) < key(b) ? -1 : 1));
  const [first] = sorted;
  if (first === undefined) throw new Error(`test/support/event-examples.ts makes no event of type ${type}`);
  return sorted.find(({ data }) => data.class === 'edited') ?? first;
}

/** A clock that stands still between steps: how often the code reads it makes no difference. */
function standingClock(): { clock: Clock; advance: (ms: number) => void } {
  let nowMs = Date.UTC(2026, 2, 1);
  const clock: Clock = {
    now: () => nowMs,
    monotonic: () => nowMs,
    // Leases are renewed later than any sweep here lasts.
    sleep: (_ms, signal) =>
      new Promise((_resolve, reject) => {
        signal?.addEventListener('abort', () => reject(new Error('aborted')), { once: true });
      }),
  };
  return { clock, advance: (ms) => void (nowMs += ms) };
}

async function eventsOfALife(redis: TestRedis): Promise<ChangeEvent[]> {
  const time = standingClock();
  const sandbox = createSandbox({ ...SIZES, seed: 3, start: Date.UTC(2026, 0, 1), limit: null, clock: time.clock });
  const { life } = sandbox;
  const shown: Shown = { edited: new Set(), hidden: new Set(), drifted: false };
  const made = readyMadeRows(time.clock.now());
  const sandboxed = inProcessApi({
    sandbox,
    clock: time.clock,
    faults: new FaultSchedule(null),
    attempts: 1,
    latencyMs: 0,
    visible: (name, records) => visible(shown, name, records),
  });
  const lists = createLists(readyMadeLists.all);
  const apiOf = (name: string): ReadApi =>
    readyMadeLists.byName(name) === undefined ? sandboxed : { ...sandboxed, ...made.api };
  const sweeps = (keys: Keys, baseline: Baseline) => async (): Promise<void> => {
    const scope = { redis: redis.redis, keys, workspace: WORKSPACE };
    const store = createSweepStore(redis.redis, keys, WORKSPACE);
    const actors = createActors({
      workspace: WORKSPACE,
      lists,
      credits: createCreditStore(scope),
      clock: time.clock,
      log: silentLog,
      apartMs: () => 0,
    });
    for (const list of lists.all) {
      const rules = compileRules(list, {}, WATCH);
      const deps = { workspace: WORKSPACE, api: apiOf(list.name), store, actors, clock: time.clock, log: silentLog };
      await sweepList(deps, { list: list.name, rules, baseline, pagesAhead: 0 });
    }
    const todos = createTodoStore(redis.redis, keys, WORKSPACE);
    await emitDueTodos({ workspace: WORKSPACE, watch: WATCH, store: todos }, { clock: time.clock, log: silentLog });
    time.advance(MINUTE_MS);
  };
  const snapshots = new Keys(`${redis.keys.prefix}:snapshots`);
  await sweeps(snapshots, 'emit')();
  const sweep = sweeps(redis.keys, 'quiet');
  const written = life.createMemo();
  await sweep();

  const now = time.clock.now();
  const [doomed, gone, kept] = [life.createPerson(), life.createPerson(), life.createPerson()];
  life.assignPerson();
  const organization = life.createOrganization();
  life.assignOrganization();
  const memo = life.createMemo();
  life.editMemo(written);
  const todo = life.createTodo({ startAt: now + 47 * HOUR_MS, endAt: now + 48 * HOUR_MS });
  const [done, moved, given, dropped] = Array.from({ length: 4 }, () => life.createTodo());
  life.addHistory();
  life.addActivity();
  for (const name of GROWING) shown.edited.add(name);
  made.change(now);
  await sweep();

  life.completeTodo(done);
  life.rescheduleTodo(moved);
  life.reassignTodo(given);
  life.mergePeople(gone, kept);
  life.delete('people', doomed);
  life.delete('organization', organization);
  life.delete('memo', memo);
  life.delete('todo', dropped);
  for (const name of GROWING) shown.hidden.add(name);
  made.remove();
  await sweep();
  life.reopenTodo(done);
  await sweep();
  await sweep();

  time.advance(25 * HOUR_MS);
  await sweep();
  time.advance(24 * HOUR_MS);
  await sweep();
  shown.drifted = true;
  made.drift();
  await sweep();
  await sandbox.stop();
  const events = [...(await logged(redis, snapshots)), ...(await logged(redis, redis.keys))];
  // The other todos of the sandbox become due as well, at odd times.
  return events.filter(({ data, subject }) => data.detectedBy !== 'clock' || subject === todo);
}

interface Shown {
  edited: Set<string>;
  hidden: Set<string>;
  drifted: boolean;
}

function visible(
  { edited, hidden, drifted }: Shown,
  name: BuiltInList,
  records: readonly UncheckedRecord[],
): readonly UncheckedRecord[] {
  const rows = records.filter((_record, index) => index !== 1 || !hidden.has(name));
  return rows.map((record, index) => ({
    ...record,
    ...(index === 0 &&
      edited.has(name) &&
      (name === 'history' ? { fieldValue: '협상' } : { documentName: '견적서 2' })),
    ...(drifted && { '가입 경로': '소개' }),
  }));
}

async function logged({ redis }: TestRedis, keys: Keys): Promise<ChangeEvent[]> {
  const entries = await redis.xrange(keys.log(WORKSPACE), '-', '+');
  // The number in a sweep's id is a fencing token, which is random.
  return entries.map(
    ([, [, json = '']]) => JSON.parse(json.replace(/("sweep":"\w+-)[0-9a-f]+/, '$1906568853089')) as ChangeEvent,
  );
}

/** What the feed reports when all of this is wrong, and when it is over. A kind that no status causes has the words of docs/operations.md. */
async function noticeExamples(redis: TestRedis): Promise<ChangeEvent[]> {
  const failed = (code: string, message: string) => list({ failure: { ...failure, code, message } });
  const times = { since: EARLIER, at: EARLIER };
  const known = { seen: 3, of: 400 };
  const held = { what: 'creations', why: 'replaced', count: 300, of: 310, known, ...times } as const;
  const found = [
    { redis: { ...HEALTHY_REDIS, evictionPolicy: 'allkeys-lru', mayEvict: true } },
    { redis: { ...HEALTHY_REDIS, refuses: 'out of memory' as const } },
    { processes: [process(['poll', 'dispatch'])] },
    {
      processes: [process(ALL_ROLES, { stalled: [{ loop: 'poll acme people', since: EARLIER }] })],
    },
    { lists: [list({ late: true, dueAt: EARLIER })] },
    {
      lists: [
        failed(
          'CF_UNAUTHORISED',
          'Workspace "acme": crm.example answered 401. Put the newest token into the configuration.',
        ),
      ],
    },
    { lists: [failed('CF_SOURCE_CHANGED', 'List "people": its baseline was read from another address.')] },
    { lists: [failed('CF_UNAVAILABLE', 'List "people", page 3: crm.example answered 503.')] },
    { lists: [list({ failure: { ...failure, shared: 'the API at crm.example did not answer (ECONNREFUSED)' } })] },
    { lists: [list({ silence: { kind: 'empty', since: EARLIER, longestPauseMs: 0 } })] },
    { lists: [list({ lastSweep: onePage(50) })] },
    {
      lists: [list({ held: [{ what: 'removals', why: 'too many', count: 30, of: 40, since: EARLIER, at: EARLIER }] })],
    },
    { lists: [list({ held: [held] })] },
    { subscriptions: [subscription({ paused: { at: EARLIER, reason: 'It answered 410.', missing: false } })] },
    {
      subscriptions: [
        subscription({
          failingSince: EARLIER,
          failures: 4,
          lastError: { workspace: 'acme', message: 'It answered 500.' },
        }),
      ],
    },
    { subscriptions: [subscription({ lateSince: EARLIER, lagEvents: 3, waiting: 3 })] },
    { subscriptions: [subscription({ dead: 2 })] },
    { unconfigured: [{ subscription: 'billing', waiting: 4, dead: 2 }] },
    { processes: [process(ALL_ROLES, { waiting: { lists: 900, forMs: 40_000 } })] },
    { processes: [process(ALL_ROLES, { clock: { apartMs: 0, stepped: { byMs: -7_200_000, agoMs: 20_000 } } })] },
    {
      processes: [process(ALL_ROLES, { failing: [{ loop: 'lost jobs', since: EARLIER, at: AT, error: 'WRONGTYPE' }] })],
    },
  ].flatMap(problemsWith);
  const keys = new Keys(`${redis.keys.prefix}:notices`);
  const store = createNoticeStore(redis.redis, keys);
  const [beganMs, overMs] = [Date.parse(AT), Date.parse(AT) + 10 * MINUTE_MS];
  const raise = async (problem: (typeof found)[number]): Promise<unknown> =>
    await store.raise({ ...problem, workspace: WORKSPACE, at: AT }, beganMs);
  const [first, ...others] = found;
  // One is over before the others begin: of several at once, each run would end another one first.
  if (first !== undefined) await raise(first);
  await store.endUnseen(WORKSPACE, { sinceMs: overMs, nowMs: overMs });
  for (const problem of others) await raise(problem);
  const reported = await logged(redis, keys);
  const isMissing = ({ kind }: { kind: string }): boolean =>
    !reported.some(({ type }) => type === `changefeed.${kind}`);
  const inWords = noticeRows()
    .filter(isMissing)
    .map(({ kind, severity, when, remedy }) =>
      buildNotice({
        workspace: WORKSPACE,
        kind: kind as NoticeKind,
        subject: 'workspace',
        at: AT,
        sequence: 1,
        severity: severity === 'warning' ? severity : 'error',
        message: `${when} ${remedy}`,
        since: EARLIER,
        list: null,
      }),
    );
  const complete = snapshotComplete({
    ...{ workspace: WORKSPACE, list: 'people', at: AT, since: EARLIER, sequence: firstSequenceOf(1) - 1 },
  });
  return [...reported, complete, ...inWords.filter(({ type }) => type !== complete.type)];
}
