import { expect, it } from 'vitest';
import type { Page } from '../../../src/feed/api/read-api.js';
import type { UncheckedRecord } from '../../../src/crm/record.js';
import type { ShortcutPage } from '../../../src/feed/list/shortcuts/plan.js';
import type { Shortcuts } from '../../../src/feed/list/shortcuts/shortcuts.js';
import { eventually } from '../../support/eventually.js';
import { type ListedApi } from '../../support/listed.js';
import { useRedis } from '../../support/redis.js';
import { baselined } from '../../support/swept-list.js';

const at = (second: number): string => new Date(Date.UTC(2026, 2, 2, 1, 0, second)).toISOString();
const people: UncheckedRecord[] = Array.from({ length: 8 }, (_, n) => ({
  ...{ id: `p${n}`, 이름: `p${n}`, 등급: 'B', '수정 날짜': at(0) },
}));
const edit = (api: ListedApi, id: string, grade: string): void => {
  api.records = api.records.map((one) => (one['id'] === id ? { ...one, 등급: grade, '수정 날짜': at(5) } : one));
};

/** Two records per page. A shortcut's request is held until `answer` is called, and answers what the list showed when it was sent. */
function asking(api: ListedApi, shortcut: ShortcutPage) {
  const wanted = [shortcut];
  const results: ('shown' | 'not judged')[] = [];
  const abandoned: ShortcutPage[] = [];
  let answer: () => void = () => undefined;
  const reader: Shortcuts = {
    begin: () => Promise.resolve(),
    next: () => Promise.resolve(wanted.pop() ?? null),
    done(_, shown) {
      results.push(shown === null ? 'not judged' : 'shown');
      return Promise.resolve();
    },
    abandon: (one) => void abandoned.push(one),
    walked: () => 0,
    isLive: () => true,
    dueMs: () => Infinity,
    restsUntil: (nowMs) => nowMs,
    end: () => Promise.resolve(),
  };
  const inner = api.fetchPage.bind(api);
  const fetchPage: ListedApi['fetchPage'] = async (list, options) => {
    const page = await inner(list, options);
    if (!('kind' in options)) return page;
    return await new Promise<Page>((resolve) => {
      answer = () => {
        resolve(page);
      };
    });
  };
  api.fetchPage = fetchPage;
  return {
    ...{ reader, results, abandoned },
    answer: () => {
      answer();
    },
  };
}

/** As the client while the budget grants nothing. */
function untilAborted(signal: AbortSignal | undefined): Promise<never> {
  return new Promise((_, reject) => {
    signal?.addEventListener('abort', () => {
      reject(signal.reason as Error);
    });
  });
}

const worthOne = (): number => 1;
const aimedAt = (page: number): ShortcutPage => ({
  ...{ kind: 'aimed', page, cursor: String((page - 1) * 2), ids: [`p${(page - 1) * 2}`], value: worthOne },
});

const redis = useRedis();

it('shortcuts of a walk: the walk does not wait for them, and what they were for is looked for again', async () => {
  const { api, sweep, eventLines } = await baselined(redis, people);
  const { reader, results, abandoned } = asking(api, aimedAt(4));
  edit(api, 'p6', 'A');
  await sweep({ shortcuts: reader });
  expect(await eventLines()).toEqual(['updated p6 1']);
  expect([results, abandoned]).toEqual([[], [aimedAt(4)]]);
});

it('shortcuts of a walk: a page that the budget does not grant keeps no other page of the list waiting', async () => {
  const { api, sweep, eventLines } = await baselined(redis, people);
  const waiting = [aimedAt(3), aimedAt(4)];
  const worthMore = aimedAt(2);
  const { reader, results, abandoned } = asking(api, worthMore);
  // The two that come first take all places.
  const wanted = [worthMore];
  reader.next = () => Promise.resolve(waiting.pop() ?? (abandoned.length > 0 ? wanted.pop() : undefined) ?? null);
  edit(api, 'p2', 'A');
  const inner = api.fetchPage.bind(api);
  api.fetchPage = async (list, options) => {
    if (!('kind' in options)) return await inner(list, options);
    if (options.cursor !== worthMore.cursor) return await untilAborted(options.signal);
    options.onGrant?.();
    return { list, records: api.records.slice(2, 4), nextCursor: '4', bytes: 0 };
  };
  api.before = async (cursor) => {
    if (cursor === '2') await eventually(() => expect(results).toEqual(['shown']));
    return undefined;
  };
  await sweep({ shortcuts: reader });
  expect(await eventLines()).toEqual(['updated p2 1']);
  expect(abandoned).toHaveLength(2);
});

it('shortcuts of a walk: an answer is committed before the next page of the walk', async () => {
  const { api, sweep, eventLines } = await baselined(redis, people);
  const { reader, results, answer } = asking(api, aimedAt(4));
  edit(api, 'p6', 'A');
  edit(api, 'p4', 'A');
  api.before = (cursor) => {
    if (cursor === '2') answer();
    return undefined;
  };
  await sweep({ shortcuts: reader });
  expect(await eventLines()).toEqual(['updated p6 1', 'updated p4 1']);
  expect(results).toEqual(['shown']);
});

it('shortcuts of a walk: an answer that the walk has overtaken commits nothing', async () => {
  const { api, sweep, events } = await baselined(redis, people);
  const { reader, results, answer } = asking(api, aimedAt(2));
  edit(api, 'p2', 'A');
  api.before = (cursor, page) => {
    // Two changes within one second: their times do not say which is older.
    if (page === 1) queueMicrotask(() => edit(api, 'p2', 'C'));
    if (cursor === '4') answer();
    return undefined;
  };
  await sweep({ shortcuts: reader });
  expect((await events()).map(({ data }) => data.after?.['등급'])).toEqual(['C']);
  expect(results).toEqual(['shown']);
});

it('shortcuts of a walk: a record that a shortcut has committed since is left alone, wherever it stood', async () => {
  const { api, sweep, events } = await baselined(redis, people);
  const { reader, results, answer } = asking(api, aimedAt(4));
  // Without a new time of change, as counters and latest notes change. When page 2 was answered, p6 stood there and had grade A.
  const withGrade = (one: UncheckedRecord, to: string): UncheckedRecord => ({ ...one, 등급: to });
  const before = people.slice(6, 7).map((one) => withGrade(one, 'A'));
  api.records = people.map((one) => (one['id'] === 'p6' ? withGrade(one, 'C') : one));
  let isHeld = false;
  api.before = async (cursor) => {
    if (cursor !== '2' || isHeld) return undefined;
    isHeld = true;
    // Answered only now: a page that is requested after the decision is not older than it.
    await eventually(() => {
      answer();
      expect(results).toEqual(['shown']);
    });
    return { list: 'people', records: before, nextCursor: '4', bytes: 0 };
  };
  await sweep({ pagesAhead: 12, shortcuts: reader });
  expect((await events()).map(({ data }) => data.after?.['등급'])).toEqual(['C']);
  expect(results).toEqual(['shown']);
});
