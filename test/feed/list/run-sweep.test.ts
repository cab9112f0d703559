import { describe, expect, it } from 'vitest';
import { ChangefeedError } from '../../../src/kit/errors.js';
import { compileRules } from '../../../src/feed/detect/rules.js';
import type { ChangeEvent } from '../../../src/events/types.js';
import { systemClock } from '../../../src/kit/clock.js';
import { silentLog } from '../../../src/kit/log.js';
import { createSweepStore } from '../../../src/feed/store/sweep-store.js';
import { sweepList, type SweepResult } from '../../../src/feed/list/loop.js';
import { MOST_REPEATED_PAGES } from '../../../src/feed/api/visited-cursors.js';
import { listedApi, type ListedApi } from '../../support/listed.js';
import { useRedis } from '../../support/redis.js';

const todo = (id: string, content: string) => ({ id, 내용: content, '수정 날짜': '2026-03-01T00:00:00.000Z' });
const five = ['a', 'b', 'c', 'd', 'e'].map((id) => todo(id, id));

describe('sweep:', () => {
  const redis = useRedis();
  const store = () => createSweepStore(redis.redis, redis.keys, 'acme');
  const sweep = (api: ListedApi, baseline: 'quiet' | 'emit' = 'quiet', signal?: AbortSignal): Promise<SweepResult> =>
    sweepList(
      { workspace: 'acme', api, store: store(), clock: systemClock, log: silentLog },
      { list: 'todo', rules: compileRules('todo'), baseline, signal, pagesAhead: 0 },
    );
  const events = async (): Promise<string[]> => {
    const entries = await redis.redis.xrange(redis.keys.log('acme'), '-', '+');
    return entries.map(([, [, json = '']]) => {
      const { type, subject, data } = JSON.parse(json) as ChangeEvent;
      return `${type} ${subject} ${data.sequence}`;
    });
  };

  it('resumes at the page that failed, still as the baseline it was', async () => {
    const api = listedApi([...five]);
    api.before = (_cursor, page) => {
      if (page === 2) throw new ChangefeedError('CF_UNAVAILABLE', { message: 'The API is away.' });
    };
    await expect(sweep(api)).rejects.toMatchObject({
      code: 'CF_SWEEP_INCOMPLETE',
      message: expect.stringMatching(/list "todo".*page 2.*resumes there.*The API is away\./) as string,
    });
    api.before = () => undefined;
    api.asked.length = 0;
    expect(await sweep(api)).toMatchObject({ summary: { mode: 'baseline', pages: 3, counts: { baselined: 5 } } });
    expect(api.asked).toEqual(['2', '4']);
    expect(await events()).toEqual([]);
  });

  it.each([
    [
      'a cursor that comes again',
      () => ({ list: 'todo', records: [todo('x', 'x')], nextCursor: '2', bytes: 0 }) as const,
    ],
    [
      'the first page in place of a later one',
      () => ({ list: 'todo', records: five.slice(0, 2), nextCursor: '9', bytes: 0 }) as const,
    ],
  ])('ends as incomplete on %s, and the next one starts at the first page', async (_what, instead) => {
    const api = listedApi([...five]);
    api.before = (_cursor, page) => (page === 3 ? instead() : undefined);
    await expect(sweep(api)).rejects.toMatchObject({ cause: { code: 'CF_CURSOR_LOOP' } });
    api.before = () => undefined;
    api.asked.length = 0;
    expect(await sweep(api)).toMatchObject({ summary: { mode: 'baseline', pages: 3 } });
    expect(api.asked).toEqual([null, '2', '4']);
  });

  it.each([
    ['many more records than before', 3_500, 3],
    ['smaller pages than before', 1_300, 1],
  ])('is complete however many pages there are: %s', async (_what, records, pageSize) => {
    const api = listedApi(
      Array.from({ length: records }, (_, index) => todo(`t${index}`, 'x')),
      1_300,
    );
    await sweep(api);
    api.pageSize = pageSize;
    expect(await sweep(api)).toMatchObject({
      summary: { pages: Math.ceil(records / pageSize), counts: { seen: records } },
    });
  });

  it('ends as incomplete after a thousand pages that show no new record', async () => {
    const api = listedApi([...five]);
    const again = (page: number) =>
      ({ list: 'todo', records: five.slice(2, 4), nextCursor: `c${page}`, bytes: 0 }) as const;
    api.before = (_cursor, page) => (page > 2 ? again(page) : undefined);
    await expect(sweep(api)).rejects.toMatchObject({
      facts: { page: 2 + MOST_REPEATED_PAGES, resumes: false },
      message: expect.stringContaining('showed no new record') as string,
      cause: { code: 'CF_CURSOR_LOOP' },
    });
  });

  it('writes nothing of a page with a record without an id, and reads it again', async () => {
    const api = listedApi([...five]);
    const broken = { list: 'todo', records: [todo('x', 'x'), { 내용: 'no id' }], nextCursor: null, bytes: 0 } as const;
    api.before = (_cursor, page) => (page === 2 ? broken : undefined);
    await expect(sweep(api)).rejects.toMatchObject({
      code: 'CF_SWEEP_INCOMPLETE',
      cause: { code: 'CF_PAGE_MALFORMED' },
    });
    expect(await store().digests('todo', ['x'])).toEqual([null]);
  });

  it('stops between pages when aborted, and loses nothing', async () => {
    const api = listedApi([...five]);
    await sweep(api);
    api.records = five.map(({ id }) => todo(id, 'changed'));
    const stop = new AbortController();
    api.before = (_cursor, page) => {
      if (page === 2) stop.abort(new Error('enough'));
      stop.signal.throwIfAborted();
    };
    await expect(sweep(api, 'quiet', stop.signal)).rejects.toThrow('enough');
    api.before = () => undefined;
    await sweep(api);
    expect(await events()).toEqual(['a', 'b', 'c', 'd', 'e'].map((id) => `crm.todo.updated ${id} 1`));
  });
});
