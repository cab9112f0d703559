import { describe, expect, it } from 'vitest';
import type { ChangeEvent } from '../../src/events/types.js';
import { batchFailuresOf, isPermanent } from '../../src/handlers/errors.js';
import type { Subscription } from '../../src/handlers/handler.js';
import { batchContext } from '../support/handler-fixtures.js';
import { step, useMirrors } from '../support/mirror.js';

const { absent, admin, mirror, rows, table } = await useMirrors();

async function sendAll(subscription: Subscription, ...events: ChangeEvent[]): Promise<void> {
  await subscription.batch?.handle(events, batchContext());
}

describe.skipIf(absent !== null)('postgres batch', () => {
  it('postgres batch: is written in one transaction, the changes of one record in their order', async () => {
    await sendAll(
      mirror({ batch: {} }),
      step({ verb: 'created', id: 'p2', after: { 이름: '하나' }, sequence: 1 }),
      step({ verb: 'created', id: 'p1', after: { 이름: '둘' }, sequence: 1 }),
      step({ id: 'p2', after: { 이름: '셋' }, sequence: 2 }),
      step({ verb: 'deleted', id: 'p1', sequence: 2 }),
      step({ list: 'todo', id: 't1', after: { 완료: true }, sequence: 1 }),
      step({ verb: 'schema_changed', id: 'schema:이름', sequence: 1 }),
    );
    expect(await rows(`id, data->>'이름' AS name, sequence, deleted`)).toEqual([
      { id: 'p1', name: null, sequence: '2', deleted: true },
      { id: 'p2', name: '셋', sequence: '2', deleted: false },
    ]);
    expect(await rows('id, xmin::text', 'todo')).toEqual([
      { id: 't1', xmin: ((await rows('xmin::text')) as { xmin: string }[])[0]!.xmin },
    ]);
  });

  it('postgres batch: writes all rows but those that the table rejects, and names the rejected events', async () => {
    const subscription = mirror({ batch: {}, columns: { people: { 이름: 'text' } } });
    await sendAll(subscription, step({ id: 'p0', sequence: 1 }));
    await admin.query(`ALTER TABLE ${table()} ADD CHECK ("이름" <> 'bad')`);
    const bad = step({ id: 'p2', after: { 이름: 'bad' }, sequence: 1 });

    const error: unknown = await sendAll(
      subscription,
      step({ id: 'p1', after: { 이름: 'good' }, sequence: 1 }),
      bad,
      step({ id: 'p3', after: { 이름: 'good' }, sequence: 1 }),
    ).catch((reason: unknown) => reason);

    const failures = batchFailuresOf(error);
    expect([...(failures?.keys() ?? [])]).toEqual([bad.id]);
    expect(isPermanent(failures?.get(bad.id))).toBe(true);
    expect(await rows('id')).toEqual([{ id: 'p0' }, { id: 'p1' }, { id: 'p3' }]);
  });

  it('postgres batch: fails as a whole while the database is away; dropped tables are created again', async () => {
    const away = mirror({ batch: {}, url: 'postgres://nobody@127.0.0.1:1/none' });
    const error: unknown = await sendAll(away, step({ sequence: 1 })).catch((reason: unknown) => reason);
    expect(error).toMatchObject({ code: 'CF_DATABASE_FAILED' });

    const subscription = mirror({ batch: {} });
    await sendAll(subscription, step({ sequence: 1 }));
    await admin.query(`DROP TABLE ${table()}`);
    await expect(sendAll(subscription, step({ sequence: 2 }))).rejects.toMatchObject({ code: 'CF_DATABASE_FAILED' });
    await sendAll(subscription, step({ sequence: 2 }));
    expect(await rows('id, sequence')).toEqual([{ id: 'p1', sequence: '2' }]);
  });

  it('postgres batch: is written after its connection was cut in the middle', async () => {
    const subscription = mirror({ batch: {} });
    await sendAll(subscription, step({ sequence: 1 }));
    const batch = Array.from({ length: 200 }, (_, n) => step({ id: `q${n}`, sequence: 1 }));
    // It may fail before the statement below has answered.
    const cutting = sendAll(subscription, ...batch).catch(() => undefined);
    await admin.query(
      `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'crm-changefeed' AND datname = current_database() AND query LIKE $1`,
      [`%${table().replaceAll('%', '')}%`],
    );
    await cutting;
    await sendAll(subscription, step({ sequence: 2 }));
    expect(await rows(`sequence`)).toContainEqual({ sequence: '2' });
  });
});
