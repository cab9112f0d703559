/** The options of `postgres`. */
import { z } from 'zod';
import { LIST_NAMES, type ListName } from '../../crm/lists/lists.js';
import { strictOptions } from '../../schema-kit/fields.js';
import { subscriptionShape, type SubscriptionOptions } from '../options.js';
import { readUrl } from './address.js';
import { A_NAME, isIdentifier } from './identifiers.js';
import { COLUMN_TYPES, OWN_COLUMNS, isReserved, type ColumnType } from './table.js';

export interface PostgresOptions extends SubscriptionOptions {
  /** `postgres://user:password@host:5432/database`; this or `connection`. @defaultValue none */
  url?: string | undefined;
  /** The same in parts; what is left out comes from `PGHOST`, `PGUSER` and their like. @defaultValue none */
  connection?: PostgresConnection | undefined;
  /** The schema of the tables; made when missing. @defaultValue 'crm' */
  schema?: string | undefined;
  /** Table names by list. @defaultValue each list's own name */
  tables?: Partial<Record<ListName, string | undefined>> | undefined;
  /**
   * Columns beside the whole record, by list: the column's name, and its type or `{ field, type }`. Without `field` the column
   * is named as the field is. @defaultValue none
   */
  columns?: Partial<Record<ListName, Readonly<Record<string, ColumnType | ColumnOptions>> | undefined>> | undefined;
  /** In which a moment becomes the day of a `date` column. @defaultValue 'Asia/Seoul' */
  timeZone?: string | undefined;
  /** True: the row of a removed record keeps its last image. False: of it stay id, sequence and times. @defaultValue false */
  keepDeleted?: boolean | undefined;
}

export interface PostgresConnection {
  /** A name or an address, or the folder of a socket. @defaultValue PGHOST, else localhost */
  host?: string | undefined;
  /** The port. @defaultValue PGPORT, else 5432 */
  port?: number | undefined;
  /** Its name. @defaultValue PGDATABASE, else the user's name */
  database?: string | undefined;
  /** Who may create and write the tables. @defaultValue PGUSER, else who runs this process */
  user?: string | undefined;
  /** Theirs. @defaultValue PGPASSWORD, else none */
  password?: string | undefined;
  /** Encrypted, and refused when the certificate is not known. @defaultValue PGSSLMODE, else false */
  ssl?: boolean | undefined;
}

export interface ColumnOptions {
  /** The field, or a path into it (`담당자.name`). @defaultValue the column's name */
  field?: string | undefined;
  type: ColumnType;
}

const A_URL = 'a URL such as postgres://user:password@host:5432/database';
const EITHER = `either url (${A_URL}) or connection ({ host, port, database, user, password, ssl })`;
const A_TYPE = `${COLUMN_TYPES.join(', ')}, or { field, type } with one of these`;
const A_COLUMN = `${A_NAME}, other than ${OWN_COLUMNS.join(', ')} and PostgreSQL's own (ctid, xmin …)`;
const COLUMNS = 'an object of types by name of column';
const A_PORT = 'a whole number from 1 to 65535';
const A_TEXT = 'a text';
const A_ZONE = "the name of a time zone, such as 'Asia/Seoul' or 'UTC'";
const TRUE_OR_FALSE = 'true or false';

const identifier = z.string({ error: A_NAME }).refine(isIdentifier, { error: A_NAME });
const text = z.string({ error: A_TEXT }).min(1, { error: A_TEXT }).optional();
const type = z.enum(COLUMN_TYPES, { error: A_TYPE });
const column = z.union([type, strictOptions({ field: text, type })], { error: A_TYPE });
const columns = z
  .record(z.string(), column, { error: COLUMNS })
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

const strict = strictOptions({
  ...subscriptionShape,
  url: z
    .string({ error: A_URL })
    .refine((url) => readUrl(url) !== undefined, { error: A_URL })
    .optional(),
  connection: strictOptions({
    host: text,
    port: z.int({ error: A_PORT }).min(1, { error: A_PORT }).max(65_535, { error: A_PORT }).optional(),
    database: text,
    user: text,
    password: text,
    ssl: z.boolean({ error: TRUE_OR_FALSE }).optional(),
  }).optional(),
  schema: identifier.default('crm'),
  tables: byList(identifier).default({}),
  columns: byList(columns).default({}),
  timeZone: z.string({ error: A_ZONE }).refine(isTimeZone, { error: A_ZONE }).default('Asia/Seoul'),
  keepDeleted: z.boolean({ error: TRUE_OR_FALSE }).default(false),
});

export const postgresSchema = strict
  .refine(({ url, connection }) => (url === undefined) !== (connection === undefined), {
    path: ['url'],
    error: EITHER,
  })
  .superRefine(({ tables }, context) => {
    const lists = [...new Set([...LIST_NAMES, ...Object.keys(tables)])];
    const names = lists.map((list) => tables[list] ?? list);
    const twice = lists.find(
      (list) => tables[list] !== undefined && names.filter((name) => name === tables[list]).length > 1,
    );
    if (twice === undefined) return;
    context.addIssue({ code: 'custom', path: ['tables', twice], message: 'a name that no other list has' });
  }) satisfies z.ZodType<unknown, PostgresOptions>;

export type PostgresSettings = z.output<typeof postgresSchema>;

/** Whether there is such a list, the configuration decides (`namedLists`). */
function byList<Value extends z.ZodType>(value: Value): z.ZodRecord<z.ZodString, Value> {
  return z.record(z.string(), value, { error: 'an object whose keys are names of lists' });
}

function isTimeZone(name: string): boolean {
  try {
    new Intl.DateTimeFormat('en', { timeZone: name });
    return true;
  } catch {
    return false;
  }
}
