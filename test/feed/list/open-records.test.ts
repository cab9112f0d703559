import { expect, it } from 'vitest';
import { listedApi } from '../../support/listed.js';
import { useRedis } from '../../support/redis.js';
import { shortcutLoop } from '../../support/shortcut-loop.js';

const NOW = '2026-03-02T01:00:00.000Z';
const todo = (n: number, 완료: boolean, at = '2026-03-01T00:00:00.000Z') => ({
  ...{ id: `t${n}`, 제목: `todo ${n}`, 완료, '마지막 날짜': NOW, '수정 날짜': at },
});

const test = useRedis();
/** 160 todos on 8 pages; those of page 4 are open. */
const todos = async (isOpen: (n: number) => boolean) => {
  const api = listedApi(
    Array.from({ length: 160 }, (_, n) => todo(n, !isOpen(n))),
    20,
  );
  const loop = await shortcutLoop(test, { todo: api }, 'todo');
  await loop.walk();
  const complete = (n: number): void => {
    api.records[n] = { ...todo(n, true, new Date(loop.now()).toISOString()), 제목: 'done' };
  };
  return { ...loop, complete };
};

it('open records: a todo that nothing names is found completed, also by a process that has just started', async () => {
  const { pass, lines, complete, restart } = await todos((n) => n >= 60 && n < 80);
  await restart();
  complete(65);
  await pass(120_000);
  complete(70);
  await pass(120_000);
  expect(await lines()).toEqual(['updated t65', 'updated t70']);
});

it('open records: on a page without open ones, the walk finds a change (control)', async () => {
  const { pass, lines, complete, walk } = await todos(() => false);
  complete(65);
  await pass(120_000);
  expect(await lines()).toEqual([]);
  await walk();
  expect(await lines()).toEqual(['updated t65']);
});
