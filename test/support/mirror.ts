/** Mirrors in a schema of each test's own, and the events they are fed with. */
import { randomBytes } from 'node:crypto';
import pg from 'pg';
import { afterAll, afterEach, beforeEach } from 'vitest';
import type { EventDraft } from '../../src/events/envelope.js';
import type { CrmRecord } from '../../src/crm/record.js';
import type { ChangeEvent } from '../../src/events/types.js';
import type { Subscription } from '../../src/delivery/handlers/handler.js';
import { postgres, type PostgresOptions } from '../../src/delivery/handlers/postgres/postgres.js';
import { changeEvent } from './events.js';
import { handlerContext } from './handler-fixtures.js';
import { obtainPostgres } from './postgres.js';

export interface TestMirrors {
  readonly absent: string | null;
  readonly url: string;
  readonly admin: pg.Pool;
  mirror: (options?: Partial<PostgresOptions>) => Subscription;
  schemaName: () => string;
  schema: () => string;
  table: (name?: string) => string;
  rows: (columns?: string, name?: string) => Promise<unknown[]>;
}

export async function useMirrors(): Promise<TestMirrors> {
  const server = await obtainPostgres();
  const url = server.outcome === 'found' ? server.url : '';
  if (server.outcome === 'none') process.stderr.write(`Tests on PostgreSQL are skipped: ${server.reason}.\n`);
  const admin = new pg.Pool({ connectionString: url, max: 2 });
  let schema = '';
  let made: Subscription[] = [];
  beforeEach(() => {
    schema = `cf "테스트" ${randomBytes(6).toString('hex')}`;
  });
  afterEach(async () => {
    for (const one of made) await one.close?.();
    made = [];
    if (url !== '') await admin.query(`DROP SCHEMA IF EXISTS ${quoted(schema)} CASCADE`);
  });
  afterAll(async () => {
    await admin.end();
    if (server.outcome === 'found') await server.close();
  });
  const table = (name = 'people'): string => `${quoted(schema)}.${quoted(name)}`;
  return {
    absent: server.outcome === 'none' ? server.reason : null,
    url,
    admin,
    mirror(options = {}) {
      const subscription = postgres({ name: 'mirror', schema, url, ...options });
      made.push(subscription);
      return subscription;
    },
    schemaName: () => schema,
    schema: () => quoted(schema),
    table,
    async rows(columns = '*', name = 'people') {
      const { rows } = await admin.query(`SELECT ${columns} FROM ${table(name)} ORDER BY workspace, id`);
      return rows as unknown[];
    },
  };
}

/** The records of each list by id, twice: by the rows of its table, and by the newest versions of its history. */
export async function mirroredRecords<List extends string>(
  database: pg.Pool,
  schema: string,
  lists: readonly List[],
): Promise<Record<List, Map<string, object>>[]> {
  const named = (name: string): string => `${quoted(schema)}.${quoted(name)}`;
  const from = [
    (list: List) => `${named(list)} WHERE NOT deleted`,
    (list: List) => `${named(`${list}_as_of`)}('infinity')`,
  ];
  const read = async (list: List, source: string) => {
    const { rows } = await database.query<{ id: string; data: object }>(`SELECT id, data FROM ${source}`);
    return [list, new Map(rows.map(({ id, data }) => [id, data]))] as const;
  };
  const all = from.map(async (source) => {
    const records = await Promise.all(lists.map((list) => read(list, source(list))));
    return Object.fromEntries(records) as Record<List, Map<string, object>>;
  });
  return await Promise.all(all);
}

export const quoted = (name: string): string => `"${name.replaceAll('"', '""')}"`;

export const at = (second: number): string =>
  new Date(Date.parse('2026-03-02T04:10:00.000Z') + second * 1_000).toISOString();

export interface Step {
  verb?: EventDraft['verb'];
  id?: string;
  after?: object | null;
  before?: object | null;
  sequence: number;
  /** Seconds after the start. @defaultValue the sequence */
  observed?: number;
  workspace?: string;
  list?: EventDraft['list'];
}

export function step({
  verb = 'updated',
  id = 'p1',
  after = {},
  before = null,
  sequence,
  observed,
  ...rest
}: Step): ChangeEvent {
  const image = (fields: object | null): CrmRecord | null => (fields === null ? null : { id, ...fields });
  const observedAt = at(observed ?? sequence * 10);
  return changeEvent({
    ...rest,
    ...{ record: id, verb, sequence },
    time: observedAt,
    data: {
      before: image(before),
      after: verb === 'deleted' ? null : image(after),
      changes: [],
      detectedBy: 'content',
      observedAt,
    },
  });
}

export async function send(subscription: Subscription, ...events: ChangeEvent[]): Promise<void> {
  for (const event of events) await subscription.handle(event, handlerContext());
}
