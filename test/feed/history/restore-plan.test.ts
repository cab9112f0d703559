import { expect, it } from 'vitest';
import { restorePlan, type RestoreStep } from '../../../src/feed/history/restore-plan.js';
import { historyList } from '../../support/history-list.js';
import { useRedis } from '../../support/redis.js';

const test = useRedis();

async function plan(list: ReturnType<typeof historyList>, fromMs: number, toMs: number): Promise<string[]> {
  const steps: RestoreStep[] = [];
  for await (const step of restorePlan(list.store, { rules: list.rules, fromMs, toMs })) steps.push(step);
  return steps
    .map(({ act, id, field, from, to, now, changedAgain }) => {
      const values = [from, now, to].map((value) => JSON.stringify(value));
      return `${act} ${id} ${field ?? ''} ${values.join(' ')}${changedAgain === null ? '' : ' again'}`;
    })
    .sort();
}

it('restore plan: names each field that a period has changed, with its value before, and what was changed again since', async () => {
  const people = historyList(test);
  await people.show([
    { id: 'a', 등급: 'A', 이름: '가' },
    { id: 'b', 등급: 'A' },
    { id: 'c', 등급: 'A' },
    { id: 'gone', 등급: 'A' },
  ]);
  const from = people.clock.now() + 1;
  await people.show([
    { id: 'a', 등급: 'B', 이름: '나' },
    { id: 'b', 등급: 'B' },
    { id: 'c', 등급: 'B' },
    { id: 'new', 등급: 'B' },
  ]);
  const to = people.clock.now();
  await people.show([
    { id: 'a', 등급: 'C', 이름: '나' },
    { id: 'b', 등급: 'A' },
    { id: 'c', 등급: 'B' },
    { id: 'new', 등급: 'B' },
  ]);
  expect(await plan(people, from, to)).toEqual([
    'create gone  null null {"id":"gone","등급":"A"}',
    'remove new  {"id":"new","등급":"B"} {"id":"new","등급":"B"} null',
    'set a 등급 "B" "C" "A" again',
    'set a 이름 "나" "나" "가"',
    'set c 등급 "B" "B" "A"',
  ]);
});

it('restore plan: a period before the history is refused', async () => {
  const people = historyList(test);
  await people.show([{ id: 'a', 등급: 'A' }]);
  await expect(plan(people, people.clock.now() - 3_600_000, people.clock.now())).rejects.toThrow('is known from');
});
