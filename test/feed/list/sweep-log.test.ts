import { expect, it } from 'vitest';
import { silentLog } from '../../../src/kit/log.js';
import { noCounts, type SweepSummary } from '../../../src/feed/store/sweep-state.js';
import { createSweepLog } from '../../../src/feed/list/sweep-log.js';

function logged() {
  let nowMs = Date.parse('2026-03-01T00:00:00.000Z');
  const lines: string[] = [];
  const line =
    (level: string) =>
    (facts: object, message: string): void => {
      const { workspace: _, ...rest } = facts as Record<string, unknown>;
      lines.push(`${level} ${message} ${JSON.stringify(rest)}`);
    };
  const log = { ...silentLog, debug: line('debug'), info: line('info') };
  const clock = { now: () => nowMs, monotonic: () => nowMs, sleep: () => Promise.resolve() };
  const sweeps = createSweepLog({ workspace: 'acme', log, clock });
  const summary = (more: Partial<SweepSummary['counts']>, startedMs = nowMs): SweepSummary => ({
    sweepId: 's',
    startedAt: new Date(startedMs).toISOString(),
    completedAt: new Date(nowMs).toISOString(),
    mode: 'changes',
    pages: 1,
    counts: { ...noCounts(), seen: 3, ...more },
  });
  return {
    lines,
    sweep: (more: Partial<SweepSummary['counts']> = {}) => sweeps.complete('people', summary(more), nowMs),
    resumed: () => sweeps.complete('people', summary({}, nowMs - 5_000), nowMs),
    request: (status = 200) =>
      sweeps.tried({
        list: 'people',
        kind: 'walk',
        page: 1,
        attempt: 1,
        code: null,
        status,
        ms: 1,
        waitMs: 0,
        ...{ bytes: 1, records: 1 },
      }),
    pass: (ms: number) => void (nowMs += ms),
    levels: () => lines.map((one) => one.split(' ')[0]),
  };
}

it('logs: the first sweep of a list, one with changes and one that was resumed have a line; others at debug', () => {
  const { levels, sweep, resumed, pass } = logged();
  sweep();
  sweep();
  pass(10_000);
  sweep({ edited: 1 });
  sweep({ edited: 1 });
  resumed();
  expect(levels()).toEqual(['info', 'debug', 'info', 'debug', 'info']);
});

it('logs: the numbers of a sweep add up, with what shortcuts found before its walk', () => {
  const { lines, sweep } = logged();
  sweep({ seen: 422, unchanged: 420, edited: 2, created: 11, deleted: 3, missing: 4 });
  const {
    seen,
    deleted: _,
    missing: __,
    beforeTheWalk,
    ...decided
  } = Object.fromEntries(
    [...(lines[0] ?? '').matchAll(/"(\w+)":(\d+)[,}]/g)]
      .filter(([, name]) => name !== 'pages' && name !== 'ms')
      .map(([, name = '', number]) => [name, Number(number)]),
  );
  expect([beforeTheWalk, decided]).toEqual([11, { unchanged: 420, edited: 2, created: 11 }]);
  expect(Object.values(decided).reduce((sum, number) => sum + number, 0)).toBe((seen ?? 0) + (beforeTheWalk ?? 0));
});

it('logs: the sweeps of a minute are summed up in one line', () => {
  const { lines, sweep, request, pass } = logged();
  for (let turn = 0; turn < 60; turn += 1) {
    request(turn === 7 ? 429 : 200);
    sweep(turn === 9 ? { edited: 2 } : {});
    pass(1_000);
  }
  sweep();
  expect(lines.filter((line) => line.startsWith('info sweeps'))).toEqual([
    'info sweeps of the last minute {"sweeps":61,"lists":1,"seconds":60,"changes":2,"requests":60,"refused":1}',
  ]);
});
