import { describe, expect, it } from 'vitest';
import type { TodosReport } from '../../../../src/crm/todo-counts.js';
import { systemClock } from '../../../../src/kit/clock.js';
import { createTodoReports } from '../../../../src/ops/server/page/todo-reports.js';
import { eventually } from '../../../support/eventually.js';

function reports() {
  let now = Date.parse('2026-03-09T18:30:30.000Z');
  const begun: string[] = [];
  const ends: (() => void)[] = [];
  const todos = ({ since = '' }): Promise<TodosReport> => {
    begun.push(since);
    return new Promise((resolve) => ends.push(() => resolve({ since, at: '', workspaces: [] })));
  };
  const ask = createTodoReports(todos, { ...systemClock, now: () => now, monotonic: () => now });
  return { ask, begun, end: () => ends.shift()?.(), later: (ms: number) => void (now += ms) };
}

describe('todo reports of the page', () => {
  it('todo reports: one is made at a time, and those of one period are the same, however it is written', async () => {
    const { ask, begun, end } = reports();
    const same = ['1d', '24h', '1440m', '86400s', '2026-03-08T18:30:00Z', '2026-03-08T18:30:59.999Z'].map(ask);
    const other = ask('2d');
    expect(begun).toEqual(['2026-03-08T18:30:00.000Z']);
    end();
    expect(new Set(await Promise.all(same))).toEqual(
      new Set([{ since: '2026-03-08T18:30:00.000Z', at: '', workspaces: [] }]),
    );
    await eventually(() => expect(begun).toEqual(['2026-03-08T18:30:00.000Z', '2026-03-07T18:30:00.000Z']));
    end();
    await other;
  });

  it('todo reports: one more than five at once is refused, and the next after them is made', async () => {
    const { ask, begun, end } = reports();
    const five = [1, 2, 3, 4, 5].map((days) => ask(`${days}d`));
    await expect(ask('6d')).rejects.toMatchObject({ statusCode: 429 });
    for (let count = 1; count <= 5; count += 1) {
      await eventually(() => expect(begun).toHaveLength(count));
      end();
    }
    await Promise.all(five);
    const six = ask('6d');
    await eventually(() => expect(begun).toHaveLength(6));
    end();
    expect(await six).toMatchObject({ since: '2026-03-03T18:30:00.000Z' });
  });

  it('todo reports: are shown for 15 s, and a failure is not', async () => {
    const { ask, begun, end, later } = reports();
    const first = ask('1d');
    end();
    await first;
    later(14_000);
    await ask('2026-03-08T18:30:00Z');
    expect(begun).toHaveLength(1);
    later(2_000);
    void ask('2026-03-08T18:30:00Z');
    expect(begun).toHaveLength(2);
    let calls = 0;
    const failing = createTodoReports(() => Promise.reject(new Error(`failed ${++calls}`)), systemClock);
    await expect(failing('7d')).rejects.toThrow('failed 1');
    await expect(failing('7d')).rejects.toThrow('failed 2');
  });
});
