import { expect, it } from 'vitest';
import { compileRules } from '../../../src/feed/detect/rules.js';
import { explainRecord } from '../../../src/feed/list/explain.js';
import { listedApi } from '../../support/listed.js';
import { useRedis } from '../../support/redis.js';
import { sweptList } from '../../support/swept-list.js';

const person = (id: string, name: string, deals = 0, stamp = '2026-03-01T00:00:00.123Z') => ({
  id,
  이름: name,
  '딜 개수': deals,
  '수정 날짜': stamp,
});

const redis = useRedis();
const rules = compileRules('people', { ignore: ['딜*'] });

it('explain: a record shows what was seen, compared, left out and decided, and its page', async () => {
  const api = listedApi([person('x', 'x'), person('y', 'y'), person('a', '1')]);
  const { show, sweep, store } = sweptList(redis, api);
  const sweepOnce = (record: ReturnType<typeof person>) => {
    return show([person('x', 'x'), person('y', 'y'), record], { rules: { ignore: ['딜*'] } });
  };
  await sweep();
  await sweepOnce(person('a', '2'));
  await sweepOnce(person('a', '2', 1));
  await sweepOnce(person('a', '2', 2));
  const story = await explainRecord(store, { list: 'people', id: 'a', rules });
  expect(story).toMatchObject({
    known: true,
    sequence: 1,
    kept: 'image',
    page: 2,
    missing: null,
    gone: null,
    compared: ['id', '이름'],
    leftOut: [
      { field: '딜 개수', rule: 'ignore: 딜*' },
      { field: '수정 날짜', rule: 'stamp' },
    ],
  });
  expect(story.decisions.map(({ what, rule, fields, times }) => ({ what, rule, fields, times }))).toEqual([
    { what: 'edited', fields: ['이름'] },
    { what: 'muted', rule: 'ignore: 딜*', times: 2 },
  ]);

  await show([person('x', 'x'), person('y', 'y')]);
  expect(await explainRecord(store, { list: 'people', id: 'a', rules })).toMatchObject({
    page: null,
    missing: { sweeps: 1 },
  });
  await sweep();
  expect(await explainRecord(store, { list: 'people', id: 'a', rules })).toMatchObject({
    kept: 'nothing',
    missing: null,
    sequence: 2,
  });
  expect(await explainRecord(store, { list: 'people', id: 'nobody', rules })).toMatchObject({
    known: false,
    decisions: [],
  });
});
