import { randomBytes } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { isPermanent } from '../../../src/delivery/handlers/errors.js';
import { placeOf } from '../../../src/delivery/handlers/postgres/database.js';
import { logMisfits } from '../../../src/service/config-warnings.js';
import { eventually } from '../../support/eventually.js';
import { failureOf, handlerContext } from '../../support/handler-fixtures.js';
import { heardLog } from '../../support/heard-log.js';
import { quoted, send, step, useMirrors } from '../../support/mirror.js';

const { absent, admin, mirror, rows, schema, table, url } = await useMirrors();

describe.skipIf(absent !== null)('postgres columns', () => {
  it('postgres columns: are filled from fields of any name, in their type', async () => {
    const columns = {
      people: {
        이름: 'text',
        '딜 "개수"': { field: '딜 개수', type: 'integer' },
        owner: { field: '담당자.name', type: 'text' },
        팀: 'jsonb',
        blocked: { field: '수신 거부 여부', type: 'boolean' },
        touched: { field: '수정 날짜', type: 'timestamptz' },
        계약일: 'date',
        "sum'; --": { field: '총 매출', type: 'numeric' },
        big: { field: 'a.b', type: 'bigint' },
      },
    } as const;
    const after = {
      이름: '가상인',
      '딜 개수': 2,
      담당자: { id: 'u', name: '담당A' },
      팀: [{ id: 't', name: '1팀' }],
      '수신 거부 여부': false,
      '수정 날짜': '2026-02-20T08:00:00.000Z',
      // Midnight in Seoul: the day is the first of April there.
      계약일: '2026-03-31T15:00:00.000Z',
      '총 매출': 1234.5,
      'a.b': '9007199254740993',
    };
    await send(mirror({ columns }), step({ after, sequence: 1 }));
    const names = Object.keys(columns.people).map((name) => (name === '계약일' ? '"계약일"::text' : quoted(name)));
    expect(await rows(names.join(', '))).toEqual([
      {
        이름: '가상인',
        '딜 "개수"': 2,
        owner: '담당A',
        팀: [{ id: 't', name: '1팀' }],
        blocked: false,
        touched: new Date('2026-02-20T08:00:00.000Z'),
        계약일: '2026-04-01',
        "sum'; --": '1234.5',
        big: '9007199254740993',
      },
    ]);
  });

  it('postgres columns: a value of another type is stored as NULL, logged once per column without the value', async () => {
    const { log, heard } = heardLog();
    const subscription = mirror({ columns: { people: { n: 'integer', day: 'date', flag: 'boolean' } } });
    const odd = { n: 3_000_000_000, day: 'soon', flag: 'yes' };
    for (const sequence of [1, 2]) await subscription.handle(step({ after: odd, sequence }), handlerContext({ log }));
    expect(await rows('n, day, flag, data')).toEqual([{ n: null, day: null, flag: null, data: { id: 'p1', ...odd } }]);
    expect(heard.map(({ facts }) => facts)).toEqual([
      { list: 'people', column: 'n', type: 'integer' },
      { list: 'people', column: 'day', type: 'date' },
      { list: 'people', column: 'flag', type: 'boolean' },
    ]);
  });

  it('postgres columns: are added to an existing table', async () => {
    await send(mirror(), step({ after: { 이름: '하나' }, sequence: 1 }));
    await send(mirror({ columns: { people: { 이름: 'text' } } }), step({ after: { 이름: '둘' }, sequence: 2 }));
    expect(await rows('"이름"')).toEqual([{ 이름: '둘' }]);
  });

  it('postgres columns: NUL and lone surrogates, which PostgreSQL rejects, are replaced', async () => {
    const subscription = mirror({ columns: { people: { 이름: 'text' } } });
    const after = { 이름: 'a\0b\ud83d', '키\0': ['\udc00', '\\u0000', '😀'] };
    await send(subscription, step({ after, sequence: 1 }));
    expect(await rows('"이름", data')).toEqual([
      {
        이름: 'a\ufffdb\ufffd',
        data: { id: 'p1', 이름: 'a\ufffdb\ufffd', '키\ufffd': ['\ufffd', '\\u0000', '😀'] },
      },
    ]);
  });
});

describe.skipIf(absent !== null)('postgres types', () => {
  it('postgres types: a column of another type is named at the start, by doctor and by each event', async () => {
    const first = { people: { 완료: 'boolean', n: 'integer', 이름: 'text' } } as const;
    await send(mirror({ columns: first }), step({ after: { 완료: true, n: 1 }, sequence: 1 }));
    // A wider number and a text take what is written; a time is no boolean.
    const changed = mirror({ columns: { people: { 완료: 'timestamptz', n: 'bigint', 이름: 'date' } } });
    const reason = `the column "완료" of ${table()} is boolean, and the subscription writes timestamptz`;
    const repair = `ALTER TABLE ${table()} ALTER COLUMN "완료" TYPE timestamptz USING NULL`;
    const { log, heard } = heardLog();
    logMisfits(log, [changed]);
    await eventually(() => expect(heard).toEqual([expect.objectContaining({ message: 'handler cannot work' })]));
    expect(heard[0]?.facts).toEqual({
      subscription: 'mirror',
      reason,
      remedy: `change the column (${repair}), or its type in the subscription`,
    });
    expect((await changed.reach?.())?.problem).toContain(reason);
    const next = step({ after: { 완료: '2026-01-01T00:00:00Z', n: 2 }, sequence: 2 });
    expect((await failureOf(send(changed, next))).message).toContain(reason);
    await admin.query(repair);
    await send(changed, next);
    expect(await rows('"완료", n')).toEqual([{ 완료: new Date('2026-01-01T00:00:00Z'), n: 2 }]);
  });
});

describe.skipIf(absent !== null)('postgres tables', () => {
  it('postgres tables: many processes may create them at the same moment', async () => {
    const events = Array.from({ length: 12 }, (_, number) => step({ id: `p${number}`, sequence: 1 }));
    await Promise.all(events.map((event) => send(mirror({ columns: { people: { 이름: 'text' } } }), event)));
    expect(await rows('id')).toHaveLength(12);
  });

  it('postgres tables: are created again after they were dropped', async () => {
    const subscription = mirror();
    await send(subscription, step({ sequence: 1 }));
    await admin.query(`DROP TABLE ${table()}`);
    const error = await failureOf(send(subscription, step({ sequence: 2 })));
    expect([(error as { code?: string }).code, isPermanent(error)]).toEqual(['CF_DATABASE_FAILED', false]);
    await send(subscription, step({ sequence: 2 }));
    expect(await rows('sequence')).toEqual([{ sequence: '2' }]);
  });

  it('postgres tables: a table that Changefeed did not create is not touched', async () => {
    await admin.query(`CREATE SCHEMA ${schema()}`);
    await admin.query(`CREATE TABLE ${table()} (id int, data jsonb)`);
    const error = await failureOf(send(mirror(), step({ sequence: 1 })));
    expect(error.message).toContain(
      'that was not created by Changefeed (without workspace, sequence, updated_at, observed_at, deleted). Nothing was written;',
    );
    const { rows: found } = await admin.query(`SELECT * FROM ${table()}`);
    expect(found).toEqual([]);
  });
});

describe.skipIf(absent !== null)('postgres errors', () => {
  it('postgres errors: a record that the table rejects becomes a dead letter whose message has no contents', async () => {
    const subscription = mirror();
    await send(subscription, step({ sequence: 1 }));
    await admin.query(`ALTER TABLE ${table()} ADD CONSTRAINT short CHECK (length(data::text) < 50)`);
    const error = await failureOf(send(subscription, step({ after: { 이름: 'secret'.repeat(20) }, sequence: 2 })));
    expect(isPermanent(error)).toBe(true);
    expect(error.message).toContain(`rejected the record for ${table()} (SQLSTATE 23514)`);
    expect(JSON.stringify([error.message, error.cause, (error.cause as Error).message])).not.toContain('secret');
  });

  it('postgres errors: an unreachable database is retried; the message has no user and no password', async () => {
    const error = await failureOf(send(mirror({ url: 'postgres://u:sesame@127.0.0.1:1/crm' }), step({ sequence: 1 })));
    expect(error).toMatchObject({
      code: 'CF_DATABASE_FAILED',
      message: 'Postgres "mirror": 127.0.0.1:1/crm could not be reached (ECONNREFUSED). The event is tried again.',
    });
  });

  it('postgres errors: after all connections broke, the next attempt opens new ones', async () => {
    const named = `cf-${randomBytes(4).toString('hex')}`;
    const subscription = mirror({ url: `${url}${url.includes('?') ? '&' : '?'}application_name=${named}` });
    await send(subscription, step({ sequence: 1 }));
    await admin.query('SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = $1', [named]);
    await eventually(() => send(subscription, step({ sequence: 2 })));
    expect(await rows('sequence')).toEqual([{ sequence: '2' }]);
    await subscription.close?.();
    await eventually(async () => {
      const left = await admin.query('SELECT 1 FROM pg_stat_activity WHERE application_name = $1', [named]);
      expect(left.rows).toEqual([]);
    });
  });
});

describe('postgres messages', () => {
  it.each([
    ['postgres://u:sesame@db.example:5433/crm?sslmode=require', 'db.example:5433/crm'],
    ['postgresql://db.example', 'db.example'],
    ['postgres://u@/crm?host=/run/postgresql', '/run/postgresql/crm'],
    ['postgres://u@/crm', 'PostgreSQL/crm'],
    ['postgres://u@%2Frun%2Fpostgresql/crm', '/run/postgresql/crm'],
  ])('postgres messages: %s is shown as %s', (address, place) => {
    expect(placeOf(address)).toBe(place);
  });
});
