import { describe, expect, it } from 'vitest';
import type { UncheckedRecord } from '../../../src/crm/record.js';
import { ChangefeedError } from '../../../src/kit/errors.js';
import { heldText } from '../../../src/ops/watch/problems.js';
import type { Held } from '../../../src/feed/detect/held.js';
import { listedApi } from '../../support/listed.js';
import { people, person } from '../../support/records.js';
import { useRedis } from '../../support/redis.js';
import { shortcutLoop } from '../../support/shortcut-loop.js';
import { baselined, sweptList } from '../../support/swept-list.js';

const redis = useRedis();

const OFF = { maxShare: 1, maxCount: 100 };

describe('creations: a small list that was replaced', () => {
  it('is held, and reports neither new nor missing records', async () => {
    const { show, sweep, eventLines } = await baselined(redis, people(50), { pageSize: 7 });
    const { counts, held } = await show(people(50, 'other'));
    expect(counts).toMatchObject({ seen: 50, created: 0, held: 50, missing: 50 });
    const [removals, creations] = (held ?? []).map(({ since }) => ({ since }));
    const both = [
      { what: 'removals', why: 'replaced', count: 50, of: 50, ...removals },
      { what: 'creations', why: 'replaced', count: 50, of: 50, known: { seen: 0, of: 50 }, reported: 0, ...creations },
    ];
    expect(held).toMatchObject(both);
    await sweep();
    expect((await sweep()).held).toMatchObject(both);
    expect(await eventLines()).toEqual([]);
  });

  it.each(['creations', 'removals'] as const)('of one kind alone is decided: %s', async (what) => {
    const { show, sweep, eventLines, store } = await baselined(redis, people(50), { pageSize: 7 });
    const other = what === 'creations' ? 'removals' : 'creations';
    await show(people(50, 'other'));
    await sweep();
    expect(await store.acceptHeld('people', what)).toMatchObject([{ what, count: 50 }]);
    const { held } = await sweep();
    expect(held).toMatchObject([{ what: other, count: 50 }]);
    const verb = what === 'creations' ? 'created' : 'deleted';
    const said = await eventLines();
    expect(said).toHaveLength(50);
    expect(said.every((line) => line.startsWith(verb))).toBe(true);
    // What is left is not told, and nothing of it comes later.
    expect(await store.discardHeld('people', other)).toMatchObject([{ what: other, count: 50 }]);
    await sweep();
    expect((await sweep()).held).toBeUndefined();
    expect(await eventLines()).toEqual(said);
  });

  it('ends when the old records are back', async () => {
    const { show, sweep, eventLines, store } = await baselined(redis, people(50), { pageSize: 7 });
    await show(people(50, 'other'));
    await sweep();
    const { counts, held } = await show(people(50));
    expect(counts).toMatchObject({ seen: 50, unchanged: 50, held: 0, missing: 0 });
    expect(held).toBeUndefined();
    expect(await eventLines()).toEqual([]);
    expect((await store.membership('people')).missing.size).toBe(0);
  });

  it('floods when the guard is switched off (control)', async () => {
    const { show, eventLines } = await baselined(redis, people(50), { pageSize: 7, creations: OFF });
    await show(people(50, 'other'), { creations: OFF });
    expect(await eventLines()).toHaveLength(50);
  });
});

describe('creations: held ones', () => {
  it('are reported without anybody once the known rows of a list that only grows are back', async () => {
    const rows = (count: number, prefix: string): UncheckedRecord[] =>
      Array.from({ length: count }, (_, index) => ({ id: `${prefix}${index}`, type: 'memo' }));
    const { show, sweep, eventLines } = await baselined(redis, rows(10, 'known'), { pageSize: 70, list: 'activity' });
    expect((await show(rows(110, 'new'))).held).toMatchObject([
      { what: 'removals', why: 'replaced' },
      { what: 'creations', count: 110 },
    ]);
    const released = await show([...rows(10, 'known'), ...rows(110, 'new')]);
    expect([released.held, released.counts.held]).toEqual([undefined, 110]);
    expect(await sweep()).toMatchObject({ counts: { created: 110, held: 0 } });
    expect(await eventLines()).toHaveLength(110);
  });
  const creations = ({ held }: { held?: readonly Held[] }) => held?.find(({ what }) => what === 'creations');

  it('are reported by the next complete sweep once a person has accepted them', async () => {
    const { show, sweep, eventLines, store } = await baselined(redis, people(20), { pageSize: 7 });
    expect(creations(await show([...people(150, 'new'), ...people(20)]))).toMatchObject({
      why: 'too many',
      count: 150,
      of: 170,
      reported: 0,
    });
    expect(await store.acceptHeld('people')).toMatchObject([{ what: 'creations', count: 150 }]);
    const { counts, held } = await sweep();
    expect([counts.created, counts.held, held]).toEqual([150, 0, undefined]);
    expect(await eventLines()).toEqual(people(150, 'new').map(({ id }) => `created ${String(id)} 1`));
    expect(await store.acceptHeld('people')).toEqual([]);
    await sweep();
    expect(await eventLines()).toHaveLength(150);
  });

  it('are stored without an event once a person has discarded them, and edits beside them are reported', async () => {
    const { api, show, eventLines, store } = await baselined(redis, people(20), { pageSize: 7 });
    await show([...people(150, 'new'), ...people(20)]);
    await store.acceptHeld('people');
    expect(await store.discardHeld('people')).toMatchObject([{ what: 'creations', count: 150 }]);
    const { counts, held } = await show([
      ...people(150, 'new'),
      ...people(20).map((one, index) => (index === 0 ? { ...one, 이름: '바뀜' } : one)),
    ]);
    expect([counts.created, counts.held, held, counts.edited]).toEqual([0, 0, undefined, 1]);
    await show([...people(3, 'later'), ...api.records.slice(1), { ...api.records[0]!, 이름: '새 이름' }]);
    const lines = await eventLines();
    expect(lines.map((line) => line.split(' ')[0])).toEqual(['updated', 'created', 'created', 'created', 'updated']);
    expect(await store.discardHeld('people')).toEqual([]);
  });

  it('hold every removal with them, and the status says that this is why', async () => {
    const { show } = await baselined(redis, people(20), { pageSize: 7 });
    const { held = [] } = await show([...people(150, 'new'), ...people(20).slice(1)]);
    expect(held).toMatchObject([{ what: 'removals', why: 'creations', count: 1 }, { why: 'too many' }]);
    expect(heldText(held[0]!)).toMatch(
      /^1 of \d+ records are missing and their removals are held; new records are held/,
    );
  });

  it('are reported by the next sweep when they are accepted while one is under way', async () => {
    const { api, show, sweep, eventLines, store } = await baselined(redis, people(20), { pageSize: 7 });
    await show([...people(150, 'new'), ...people(20)]);
    api.before = async (_cursor, page) => {
      if (page === 20) await store.acceptHeld('people');
      return undefined;
    };
    expect((await sweep()).counts).toMatchObject({ created: 0, held: 150 });
    api.before = () => undefined;
    expect((await sweep()).counts).toMatchObject({ created: 150, held: 0 });
    expect(await eventLines()).toHaveLength(150);
  });

  it('accepted do not accept a far greater number that comes later', async () => {
    const { show, eventLines, store } = await baselined(redis, people(20), { pageSize: 50 });
    const { since } = creations(await show([...people(20), ...people(150, 'new')]))!;
    await store.acceptHeld('people');
    const later = creations(await show([...people(20), ...people(900, 'more')]))!;
    expect(later.since > since).toBe(true);
    expect((await eventLines()).length).toBeLessThan(300);
  });

  it('are stored without events by a resync, and missing records are dropped', async () => {
    const { api, show, sweep, eventLines, store } = await baselined(redis, people(50), { pageSize: 7 });
    await show(people(50, 'other'));
    await sweep();
    await store.forgetBaseline('people');
    expect(await sweep()).toMatchObject({ mode: 'baseline', counts: { baselined: 50, missing: 0 } });
    api.records = [person('other0', 'edited'), ...people(50, 'other').slice(1)];
    for (let sweeps = 0; sweeps < 3; sweeps += 1) await sweep();
    expect(await eventLines()).toEqual(['updated other0 1']);
    expect((await store.schema('people')).rows).toBe(50);
  });

  it('that were deleted before reappear once they are accepted', async () => {
    const api = listedApi(people(40), 7);
    const { show, sweep, eventLines, store } = sweptList(redis, api);
    const removals = { confirm: 1, afterMs: 0, maxShare: 1, maxCount: 1_000 };
    await sweep({ removals });
    await show(people(2), { removals });
    expect((await eventLines()).length).toBe(38);
    api.records = people(40);
    const few = { maxShare: 0.5, maxCount: 10 };
    expect((await sweep({ creations: few })).counts).toMatchObject({ unchanged: 40, held: 0 });
    const { count, reported = 0 } = creations(await sweep({ creations: few, minutesLater: 10 }))!;
    expect(count + reported).toBe(38);
    expect((await sweep({ creations: few })).counts).toMatchObject({ created: 0, held: count });
    await store.acceptHeld('people');
    expect((await sweep({ creations: few })).counts).toMatchObject({ created: count, held: 0 });
    const back = people(40).slice(2);
    expect((await eventLines()).slice(38)).toEqual(back.map(({ id }) => `created ${String(id)} 2`));
  });
});

describe('creations: walks and shortcuts together', () => {
  const known = people(100);
  const grown = async (records: UncheckedRecord[], pageSize = 50) => {
    const api = listedApi(known, pageSize);
    const loop = await shortcutLoop(redis, { people: api }, 'people');
    await loop.walk();
    api.records = records;
    return { ...loop, api };
  };

  it('report no more than the guard allows of an import', async () => {
    const { pass, walk, lines, store } = await grown([...known, ...people(450, 'new')]);
    await pass(20_000);
    expect(await lines()).toHaveLength(100);
    await walk();
    await pass(20_000);
    await walk();
    const { lastSweep } = (await store.load('people')).state;
    expect(lastSweep?.held).toMatchObject([{ what: 'creations', why: 'too many', count: 350, reported: 100 }]);
    expect(await lines()).toHaveLength(100);
  });

  it('report no removal of a list whose known records are half gone among many new ones', async () => {
    const { pass, walk, lines } = await grown([...known.slice(50), ...people(90, 'new')]);
    await pass(20_000);
    for (let sweeps = 0; sweeps < 3; sweeps += 1) await walk();
    expect((await lines()).filter((line) => line.startsWith('deleted'))).toEqual([]);
  });

  it('report nothing of a list that was replaced', async () => {
    const { pass, walk, lines, api } = await grown(people(450, 'stranger'));
    await pass(20_000);
    await walk();
    await pass(20_000);
    expect(await lines()).toEqual([]);
    api.records = known;
    await walk();
    await pass(20_000);
    await walk();
    expect(await lines()).toEqual([]);
  });

  it('report at once a few pages that are all new at the end of a list that is still ours', async () => {
    const { pass, lines } = await grown([...known, ...people(90, 'new')], 20);
    await pass(20_000);
    expect(await lines()).toHaveLength(90);
  });
});

describe('creations: a walk that is interrupted', () => {
  it('in a survey is surveyed again, and holds in the end', async () => {
    const { api, sweep, eventLines } = await baselined(redis, people(50), { pageSize: 7 });
    api.records = [...people(60, 'other'), person('p0', 'edited')];
    api.before = (_cursor, page) => {
      if (page === 4) throw new ChangefeedError('CF_UNAVAILABLE', { message: 'down' });
      return undefined;
    };
    await expect(sweep()).rejects.toMatchObject({ code: 'CF_SWEEP_INCOMPLETE' });
    api.before = () => undefined;
    api.asked.length = 0;
    const { held, counts } = await sweep();
    expect(api.asked[0]).toBeNull();
    expect(held?.at(-1)).toMatchObject({ count: 60, of: 61, known: { seen: 1, of: 50 } });
    expect(counts).toMatchObject({ held: 60, edited: 1 });
    expect(await eventLines()).toEqual(['updated p0 1']);
  });

  it('by an abort in the second walk reports every record once', async () => {
    const { api, sweep, eventLines } = await baselined(redis, people(60), { pageSize: 7 });
    api.records = [...people(30, 'new'), ...people(60)];
    const stop = new AbortController();
    let first = 0;
    api.before = (cursor, page) => {
      if (cursor === null) first += 1;
      if (first === 3 && page === 3) stop.abort(new Error('enough'));
      stop.signal.throwIfAborted();
      return undefined;
    };
    await expect(sweep({ signal: stop.signal })).rejects.toThrow('enough');
    expect(first).toBe(3);
    expect(await eventLines()).toHaveLength(14);
    api.before = () => undefined;
    await sweep();
    expect((await eventLines()).sort()).toEqual(
      people(30, 'new')
        .map(({ id }) => `created ${String(id)} 1`)
        .sort(),
    );
  });
});
