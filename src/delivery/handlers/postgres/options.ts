import { z } from 'zod';
import { LIST_NAMES, type ListName } from '../../../crm/lists/lists.js';
import { DEFAULT_TIME_ZONE, strictOptions, text, timeZone, wholeNumber, yesOrNo } from '../../../kit/schema/fields.js';
import { secret } from '../../../kit/schema/secret.js';
import { subscriptionShape } from '../options.js';
import { readUrl } from './database.js';
import { A_NAME, COLUMN_TYPES, OWN_COLUMNS, isIdentifier, isReserved } from './table.js';

const A_URL = 'a URL such as postgres://user:password@host:5432/database (a % in it is written %25)';
const A_TYPE = `${COLUMN_TYPES.join(', ')}, or { field, type } with one of these`;
const A_COLUMN = `${A_NAME}, other than ${OWN_COLUMNS.join(', ')} and PostgreSQL's own (ctid, xmin …)`;

const identifier = z.string({ error: A_NAME }).refine(isIdentifier, { error: A_NAME });
const aText = text('a text');
const databaseUrl = secret(z.string({ error: A_URL }).refine((url) => readUrl(url) !== undefined, { error: A_URL }));
const columnType = z.enum(COLUMN_TYPES, { error: A_TYPE });

const columnOptions = strictOptions({
  /** The field, or a path into it (`담당자.name`). @defaultValue the column's name */
  field: aText.optional(),
  /** The PostgreSQL type of the column. */
  type: columnType,
});

const columns = z
  .record(z.string(), z.union([columnType, columnOptions], { error: A_TYPE }), {
    error: 'an object of types by name of column',
  })
  .readonly()
  .superRefine((given, context) => {
    for (const name of Object.keys(given)) {
      if (isIdentifier(name) && !isReserved(name)) continue;
      context.addIssue({ code: 'custom', path: [name], message: `under the name of ${A_COLUMN}` });
    }
  })
  .transform((given) =>
    Object.entries(given).map(([name, value]) =>
      typeof value === 'string'
        ? { name, field: name, type: value }
        : { name, field: value.field ?? name, type: value.type },
    ),
  );

const postgresOptions = strictOptions({
  ...subscriptionShape,
  /** Number of records one process writes at the same time. @defaultValue 20 */
  concurrency: wholeNumber(1, 1_000).default(20),
  /** `postgres://user:password@host:5432/database`. Parts that it leaves out come from `PGHOST`, `PGPASSWORD` and the other `PG…` variables. */
  url: databaseUrl,
  /** The schema of the tables. It is created if it does not exist. @defaultValue 'crm' */
  schema: identifier.default('crm'),
  /** Table names by list. @defaultValue each list's own name */
  tables: byList(identifier).default({}),
  /**
   * Columns in addition to the whole record, by list: the column's name, and its type or `{ field, type }`. Without `field` the
   * column takes the field of the same name. @defaultValue none
   */
  columns: byList(columns).default({}),
  /** The time zone that decides the day of a time in a `date` column. @defaultValue 'Asia/Seoul' */
  timeZone: timeZone.default(DEFAULT_TIME_ZONE),
  /** True: the row of a removed record keeps its last contents. False: it keeps only id, sequence and times. @defaultValue false */
  keepDeleted: yesOrNo.default(false),
});

export const postgresSchema = postgresOptions.superRefine(({ tables }, context) => {
  const lists = [...new Set([...LIST_NAMES, ...Object.keys(tables)])];
  const names = lists.map((list) => tables[list] ?? list);
  const twice = lists.find(
    (list) => tables[list] !== undefined && names.filter((name) => name === tables[list]).length > 1,
  );
  if (twice === undefined) return;
  context.addIssue({ code: 'custom', path: ['tables', twice], message: 'a name that no other list has' });
});

export type PostgresOptions = z.input<typeof postgresSchema>;
export type ColumnOptions = z.input<typeof columnOptions>;
export type PostgresSettings = z.output<typeof postgresSchema>;

/** The configuration checks whether the lists exist (`namedLists`). */
function byList<Value extends z.ZodType>(value: Value): z.ZodType<ByList<z.output<Value>>, ByList<z.input<Value>>> {
  return z.record(z.string(), value, { error: 'an object whose keys are names of lists' });
}

type ByList<Value> = Partial<Record<ListName, Value>>;
