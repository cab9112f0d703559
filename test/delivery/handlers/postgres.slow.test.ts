import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { snapshotComplete } from '../../../src/events/notices.js';
import { handlerContext } from '../../support/handler-fixtures.js';
import { at, send, step, useMirrors } from '../../support/mirror.js';

const { absent, admin, mirror, rows, table, url } = await useMirrors();

describe.skipIf(absent !== null)('postgres handler', () => {
  it('postgres handler: creates the table and keeps one row per record with its current contents', async () => {
    await send(
      mirror(),
      step({ verb: 'created', id: 'p1', after: { 이름: '가상인', '딜 개수': 1 }, sequence: 1 }),
      step({ verb: 'snapshot', id: 'p2', after: { 이름: '둘' }, sequence: 1 }),
      step({ id: 'p1', after: { 이름: '가상인', '딜 개수': 2, 팀: [{ id: 't', name: '1팀' }] }, sequence: 2 }),
    );
    const row = { workspace: 'acme', deleted: false };
    const times = (second: number): object => ({ updated_at: new Date(at(second)), observed_at: new Date(at(second)) });
    expect(await rows()).toEqual([
      {
        ...row,
        ...times(20),
        id: 'p1',
        sequence: '2',
        data: { id: 'p1', 이름: '가상인', '딜 개수': 2, 팀: [{ id: 't', name: '1팀' }] },
      },
      { ...row, ...times(10), id: 'p2', sequence: '1', data: { id: 'p2', 이름: '둘' } },
    ]);
  });

  it('postgres handler: has one table per list, with a configurable name', async () => {
    const subscription = mirror({ tables: { todo: '할 일; drop table "people"' } });
    await send(subscription, step({ sequence: 1 }), step({ list: 'todo', sequence: 1 }));
    expect([await rows('id'), await rows('id', '할 일; drop table "people"')]).toEqual([
      [{ id: 'p1' }],
      [{ id: 'p1' }],
    ]);
  });

  it('postgres handler: marks and empties the row of a removed record, and fills it again when the record comes back', async () => {
    const subscription = mirror({ columns: { people: { 이름: 'text' } } });
    const before = { 이름: '가상인' };
    await send(subscription, step({ after: before, sequence: 1 }), step({ verb: 'deleted', before, sequence: 2 }));
    const columns = 'id, data, "이름", sequence, deleted';
    expect(await rows(columns)).toEqual([{ id: 'p1', data: null, 이름: null, sequence: '2', deleted: true }]);
    await send(subscription, step({ verb: 'created', after: before, sequence: 3 }));
    expect(await rows(columns)).toEqual([
      { id: 'p1', data: { id: 'p1', ...before }, 이름: '가상인', sequence: '3', deleted: false },
    ]);
  });

  it.each([
    ['that the event carries', { 이름: '셋' }, '셋'],
    ['that the row has, when the event carries none', null, '가상인'],
  ])(
    'postgres handler: with keepDeleted, a removed record keeps its last image: the one %s',
    async (_which, before, name) => {
      const subscription = mirror({ keepDeleted: true, columns: { people: { 이름: 'text' } } });
      await send(
        subscription,
        step({ after: { 이름: '가상인' }, sequence: 1 }),
        step({ verb: 'deleted', before, sequence: 2 }),
      );
      expect(await rows('data, "이름", deleted')).toEqual([
        { data: { id: 'p1', 이름: name }, 이름: name, deleted: true },
      ]);
    },
  );

  it('postgres handler: keeps records of two workspaces apart, though they have the same id', async () => {
    await send(mirror(), step({ sequence: 5, workspace: 'acme' }), step({ sequence: 1, workspace: 'beta' }));
    expect(await rows('workspace, id, sequence')).toEqual([
      { workspace: 'acme', id: 'p1', sequence: '5' },
      { workspace: 'beta', id: 'p1', sequence: '1' },
    ]);
  });

  it('postgres handler: ignores events that do not describe the state of a record', async () => {
    const event = step({ sequence: 1 });
    await send(mirror(), { ...event, type: 'crm.person.completed' });
    const found = await admin.query('SELECT to_regclass($1) AS made', [table()]);
    expect(found.rows).toEqual([{ made: null }]);
  });
});

describe.skipIf(absent !== null)('postgres reach', () => {
  it('postgres reach: connects, and says what to do where it cannot', async () => {
    const reached = await mirror().reach?.();
    expect(reached).toMatchObject({ problem: null });
    const other = new URL(url);
    other.pathname = '/no_such_database';
    expect(await mirror({ url: other.href }).reach?.()).toMatchObject({
      problem: expect.stringMatching(/^Postgres "mirror": .*\/no_such_database: .*\(SQLSTATE 3D000\)\.$/) as string,
      remedy: 'Create the database first.',
    });
  });
});

describe.skipIf(absent !== null)('postgres order', () => {
  it.each([
    [false, null],
    [true, { id: 'gone', v: 1 }],
  ])(
    'postgres order: the end of a snapshot marks the rows that it did not show (keepDeleted: %s)',
    async (keepDeleted, data) => {
      const subscription = mirror({ keepDeleted });
      const mark = snapshotComplete({ workspace: 'acme', list: 'people', since: null, at: at(60), sequence: 99 });
      await send(
        subscription,
        step({ id: 'gone', after: { v: 1 }, sequence: 5 }),
        step({ id: 'gone', after: { v: 1 }, sequence: 5, workspace: 'other' }),
        step({ verb: 'snapshot', id: 'shown', after: { v: 1 }, sequence: 99 }),
        step({ id: 'later', after: { v: 1 }, sequence: 128 }),
        mark,
        step({ id: 'gone', after: { v: 2 }, sequence: 6 }),
      );
      const kept = (id: string, sequence: string, workspace = 'acme') => ({
        ...{ workspace, id, sequence, deleted: false, data: { id, v: 1 } },
      });
      expect(await rows('workspace, id, sequence, deleted, data')).toEqual([
        { workspace: 'acme', id: 'gone', sequence: '99', deleted: true, data },
        kept('later', '128'),
        kept('shown', '99'),
        kept('gone', '5', 'other'),
      ]);
    },
  );

  it('postgres order: any order, any repeats and many writers end in the same state', async () => {
    const subscription = mirror();
    let run = 0;
    const order = fc.array(fc.integer({ min: 1, max: 6 }), { minLength: 1, maxLength: 20 });
    await fc.assert(
      fc.asyncProperty(order, fc.integer({ min: 2, max: 7 }), async (sequences, deletedAt) => {
        const id = `p${(run += 1)}`;
        const events = sequences.map((sequence) =>
          step(sequence === deletedAt ? { verb: 'deleted', id, sequence } : { id, after: { v: sequence }, sequence }),
        );
        await Promise.all(events.map(async (event) => subscription.handle(event, handlerContext())));
        const newest = Math.max(...sequences);
        const { rows: found } = await admin.query(`SELECT data, sequence::int, deleted FROM ${table()} WHERE id = $1`, [
          id,
        ]);
        const isGone = newest === deletedAt;
        expect(found).toEqual([{ data: isGone ? null : { id, v: newest }, sequence: newest, deleted: isGone }]);
      }),
      { numRuns: 40 },
    );
  });

  it('postgres order: the highest sequence wins, whatever the clocks said', async () => {
    const subscription = mirror();
    await send(
      subscription,
      step({ after: { v: 'new' }, sequence: 2, observed: 0 }),
      step({ after: { v: 'old' }, sequence: 1, observed: 3_600 }),
    );
    expect(await rows('data, sequence')).toEqual([{ data: { id: 'p1', v: 'new' }, sequence: '2' }]);
    await send(subscription, step({ after: { v: 'next epoch' }, sequence: 2 ** 40, observed: -3_600 }));
    expect(await rows('data, sequence')).toEqual([{ data: { id: 'p1', v: 'next epoch' }, sequence: String(2 ** 40) }]);
  });
});
