import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { snapshotComplete } from '../../../src/events/notices.js';
import type { ChangeEvent } from '../../../src/events/types.js';
import { handlerContext } from '../../support/handler-fixtures.js';
import { at, send, step, useMirrors } from '../../support/mirror.js';

const { absent, admin, mirror, table } = await useMirrors();

describe.skipIf(absent !== null)('postgres history', () => {
  const versions = async (
    what = 'id, sequence::int, valid_from, valid_to, event_id, actor, changes, data, deleted',
  ) => {
    const { rows: found } = await admin.query(
      `SELECT ${what} FROM ${table('people_timeline')} ORDER BY workspace, id, sequence`,
    );
    return found as unknown[];
  };
  const asOf = async (second: number) => {
    const { rows: found } = await admin.query(`SELECT id, data FROM ${table('people_as_of')}($1) ORDER BY id`, [
      at(second),
    ]);
    return found as unknown[];
  };

  it('postgres history: keeps each version with what changed, and tells what was at a time', async () => {
    const subscription = mirror({ history: true });
    const plain = step({ after: { 등급: 'A' }, sequence: 2, observed: 20 });
    const said = {
      changes: [{ field: '등급', before: 'B', after: 'A' }],
      actor: { type: 'user', id: 'u1', name: '가상인' },
    };
    const edit = { ...plain, data: { ...plain.data, ...said } };
    const created = step({ verb: 'created', after: { 등급: 'B' }, sequence: 1, observed: 10 });
    const gone = step({ verb: 'deleted', before: { 등급: 'A' }, sequence: 3, observed: 30 });
    await send(subscription, created, edit, gone, edit, created);
    const version = (event: ChangeEvent, validTo: number | null, data: object | null) => ({
      ...{ id: 'p1', sequence: event.data.sequence, event_id: event.id, data, deleted: data === null },
      ...{ valid_from: new Date(event.data.observedAt), valid_to: validTo === null ? null : new Date(at(validTo)) },
      ...{ actor: event.data.actor ?? null, changes: event.data.changes },
    });
    expect(await versions()).toEqual([
      version(created, 20, { id: 'p1', 등급: 'B' }),
      version(edit, 30, { id: 'p1', 등급: 'A' }),
      version(gone, null, null),
    ]);
    const was = await Promise.all([9, 10, 19, 20, 29, 30].map(asOf));
    expect(was).toEqual([
      [],
      ...['B', 'B', 'A', 'A'].map((grade) => [{ id: 'p1', data: { id: 'p1', 등급: grade } }]),
      [],
    ]);
  });

  it('postgres history: a snapshot adds what is not known, and its end what is gone', async () => {
    const subscription = mirror({ history: true });
    const mark = snapshotComplete({ workspace: 'acme', list: 'people', since: null, at: at(60), sequence: 99 });
    await send(
      subscription,
      ...['same', 'gone', 'other'].map((id) =>
        step({ verb: 'created', id, after: { v: 1 }, sequence: 1, observed: 1 }),
      ),
      step({ verb: 'snapshot', id: 'same', after: { v: 1 }, sequence: 99, observed: 50 }),
      step({ verb: 'snapshot', id: 'other', after: { v: 2 }, sequence: 99, observed: 50 }),
      step({ verb: 'snapshot', id: 'fresh', after: { v: 3 }, sequence: 99, observed: 50 }),
      mark,
      mark,
    );
    const version = (id: string, sequence: number, v: number | null) => ({
      ...{ id, sequence, v, deleted: v === null },
    });
    expect(await versions(`id, sequence::int, (data->>'v')::int AS v, deleted`)).toEqual([
      version('fresh', 99, 3),
      ...[version('gone', 1, 1), version('gone', 99, null)],
      ...[version('other', 1, 1), version('other', 99, 2)],
      version('same', 1, 1),
    ]);
  });

  it('postgres history: a mirror that was there begins with its rows, an erased record has none, and tables of others are refused', async () => {
    await send(mirror(), step({ id: 'p1', sequence: 1 }), step({ id: 'p2', sequence: 1 }));
    const subscription = mirror({ history: true });
    await send(subscription, step({ id: 'p1', after: { v: 2 }, sequence: 2 }));
    expect(await versions('id, sequence::int')).toEqual([
      ...[1, 2].map((sequence) => ({ id: 'p1', sequence })),
      { id: 'p2', sequence: 1 },
    ]);
    expect(await subscription.erase?.({ workspace: 'acme', list: 'people', id: 'p1' })).toBe(1);
    expect(await versions('id')).toEqual([{ id: 'p2' }]);
    await admin.query(`CREATE TABLE ${table('memo_versions')} (mine text)`);
    await expect(send(subscription, step({ list: 'memo', sequence: 1 }))).rejects.toMatchObject({
      code: 'CF_DATABASE_FAILED',
      message: expect.stringContaining('memo_versions" that was not created by Changefeed') as string,
    });
  });

  it.each([
    [{ memo: 'people_timeline' }, 'a name that no other list has'],
    [{ people: 'p'.repeat(55) }, 'with `history`, a name of at most 54 bytes'],
  ])('postgres history: refuses names that its tables cannot have: %j', (tables, message) => {
    expect(() => mirror({ tables })).not.toThrow();
    expect(() => mirror({ tables, history: true })).toThrow(message);
  });

  it('postgres history: any order, any repeats, any clocks and many writers end in the same versions', async () => {
    const subscription = mirror({ history: true });
    let run = 0;
    const change = fc.record({ sequence: fc.integer({ min: 1, max: 6 }) });
    const clocks = fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 6, maxLength: 6 });
    await fc.assert(
      fc.asyncProperty(fc.array(change, { minLength: 1, maxLength: 20 }), clocks, async (given, observed) => {
        const id = `p${(run += 1)}`;
        const sent = given.map(({ sequence }) =>
          step({ id, after: { v: sequence }, sequence, observed: observed[sequence - 1] ?? 0 }),
        );
        await Promise.all(sent.map(async (event) => subscription.handle(event, handlerContext())));
        const known = [...new Set(given.map(({ sequence }) => sequence))];
        for (const second of [0, 1, 3, 5, 7, 9]) {
          const newest = Math.max(...known.filter((sequence) => (observed[sequence - 1] ?? 0) <= second));
          const expected = newest === -Infinity ? [] : [{ v: newest }];
          const where = `WHERE id = '${id}'`;
          const { rows: called } = await admin.query(
            `SELECT (data->>'v')::int AS v FROM ${table('people_as_of')}($1) ${where}`,
            [at(second)],
          );
          const { rows: viewed } = await admin.query(
            `SELECT (data->>'v')::int AS v FROM ${table('people_timeline')} ${where} AND valid_from <= $1 AND (valid_to > $1 OR valid_to IS NULL)`,
            [at(second)],
          );
          expect([called, viewed]).toEqual([expected, expected]);
        }
      }),
      { numRuns: 30 },
    );
  });
});
