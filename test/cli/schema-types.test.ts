import ts from 'typescript';
import { describe, expect, it } from 'vitest';
import { typesText } from '../../src/cli/schema-types.js';
import { movesBetween } from '../../src/feed/detect/schema-drift/schema.js';
import { compileRules } from '../../src/feed/detect/rules.js';
import {
  TrackedFields,
  addToDelta,
  listSchema,
  schemaFrom,
  type SchemaDelta,
} from '../../src/feed/detect/schema-drift/schema.js';
import type { BuiltInList } from '../../src/crm/lists/lists.js';

type Row = Readonly<Record<string, unknown>>;

function typesOf(rows: readonly Row[], list: BuiltInList = 'people'): string {
  const tally: SchemaDelta = new Map();
  const tracked = new TrackedFields(schemaFrom([]));
  for (const row of rows) addToDelta(tally, { moves: movesBetween({}, row, compileRules(list)), rows: 1, tracked });
  return typesText(list, listSchema(schemaFrom(tally)));
}

const OPTIONS: ts.CompilerOptions = {
  strict: true,
  exactOptionalPropertyTypes: true,
  noEmit: true,
  target: ts.ScriptTarget.ES2023,
  lib: ['lib.es5.d.ts'],
  types: [],
};
/** The compiler's own files are read once: they are most of its work. */
const libraries = new Map<string, ts.SourceFile | undefined>();

function complaints(...sources: string[]): string[][] {
  const host = ts.createCompilerHost(OPTIONS);
  const read = host.getSourceFile.bind(host);
  const modules = sources.map((source, index) =>
    ts.createSourceFile(`rows-${index}.ts`, source, ts.ScriptTarget.ES2023, true),
  );
  host.getSourceFile = (name, ...rest) => {
    const own = modules.find(({ fileName }) => fileName === name);
    if (own !== undefined) return own;
    if (!libraries.has(name)) libraries.set(name, read(name, ...rest));
    return libraries.get(name);
  };
  const names = modules.map(({ fileName }) => fileName);
  const program = ts.createProgram(names, OPTIONS, host);
  return modules.map((module) =>
    ts
      .getPreEmitDiagnostics(program, module)
      .map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, ' ')),
  );
}

const assigned = (rows: readonly Row[], held: readonly unknown[] = rows): string =>
  `${typesOf(rows)}\nexport const rows: Person[] = [\n${held.map((row) => JSON.stringify(row)).join(',\n')}\n];`;

describe('schema --types: the text', () => {
  it('schema --types: a list is one readable interface', () => {
    const team = { id: 't1', name: '1팀' };
    const rows = [
      {
        id: 'a',
        이름: '김',
        '딜 개수': 1,
        등급: 'A',
        담당자: team,
        팀: [team],
        메모: null,
        날: '2026-03-01T00:00:00Z',
      },
      { id: 'b', 이름: '이', '딜 개수': 2, 등급: 4, 담당자: null, 팀: [], 메모: null, 날: '2026-03-01T00:00:00Z' },
      { id: 'c', 이름: '박', '딜 개수': 3, 등급: null, 팀: [team], 메모: null },
      { id: 'd', 이름: '최', '딜 개수': 4, 등급: 'B', 담당자: team, 팀: [], 날: '2026-03-01T00:00:00Z' },
    ];
    expect(typesOf(rows)).toMatchInlineSnapshot(`
      "/** As seen on 4 rows. */
      export interface Person {
        id: string;
        /** On 75 % of the rows. ISO 8601. */
        날?: string;
        /** On 75 % of the rows. */
        담당자?: { id: string; name: string } | null;
        등급: string | number | null;
        "딜 개수": number;
        /** On 75 % of the rows. Always null so far. */
        메모?: unknown;
        이름: string;
        팀: { id: string; name: string }[];
      }"
    `);
  });

  it.each([
    ['organization', 'Organization'],
    ['history', 'DealHistory'],
    ['activity', 'PersonActivity'],
  ] as const)('schema --types: an interface has the name of the object in events: %s is %s', (list, name) => {
    expect(typesOf([{ id: 'a' }], list)).toBe(`/** As seen on 1 row. */\nexport interface ${name} {\n  id: string;\n}`);
  });

  it('schema --types: nothing invisible is written, and the compiler reads the same names', () => {
    const name = 'a\u202eb\u009b\u{e0001}';
    const field = { field: name, rows: 1, share: 1, forms: [{ form: `{${name}}`, rows: 1 }] };
    const text = typesText('people', { rows: 1, fields: [field] });
    expect(text.match(/[^\P{C}\n]/gu)).toBeNull();
    expect(text).toContain('"a\\u202eb\\u009b\\udb40\\udc01"');
  });

  it('schema --types: a list that was never swept accepts any row', () => {
    expect(typesOf([])).toBe(
      '/** No row has been seen yet. */\nexport interface Person {\n  [field: string]: unknown;\n}',
    );
    expect(complaints(assigned([], [{ id: 'a', 이름: null }]))).toEqual([[]]);
  });

  it('schema --types: shares are rounded neither up to all rows nor down to none', () => {
    const types = (rows: number) =>
      typesText('people', {
        rows: 100_000,
        fields: [{ field: '등급', share: rows / 100_000, forms: [{ form: 'string', rows }] }],
      });
    expect(types(99_999)).toContain('/** On more than 99.9 % of the rows. */\n  등급?: string;');
    expect(types(1)).toContain('/** On less than 0.1 % of the rows. */\n  등급?: string;');
    expect(types(100_000)).toContain('{\n  등급: string;');
  });
});

describe('schema --types: the compiler', () => {
  const names = [
    ...['이름', '성사된 딜 개수', 'RecordId', 'a-b', '1st', '$ref', '_id', '', ' ', '𝒳'],
    ...[
      'quote"d',
      "quote'd",
      'back`tick',
      'back\\slash',
      '\\',
      '\\u0041',
      '*/',
      '//',
      '${x}',
      'a\nb',
      'a\tb',
      '\u2028',
    ],
    ...['class', 'new', 'default', 'constructor', 'readonly', 'get', 'typeof', 'null', 'any', 'await', 'toString'],
    ...['{', '}', ', ', 'a, b', 'a: b', 'a?', 'list of', 'list of string', 'absent', 'rows', '[key: string]'],
  ];

  it('schema --types: any field name compiles, and only rows with the field are accepted', () => {
    const rowsOf = (name: string): Row[] => [
      ...['text', 1, null, { [name]: 'inner' }].map((value) => ({ [name]: value })),
      {},
    ];
    const right = complaints(...names.map((name) => assigned(rowsOf(name))));
    expect(names.filter((_name, index) => right[index]?.length !== 0)).toEqual([]);
    const wrong = complaints(...names.map((name) => assigned([{ [name]: 'text' }], [{ [name]: true }])));
    expect(names.filter((_name, index) => wrong[index]?.length === 0)).toEqual([]);
  });

  it('schema --types: a field named __proto__ compiles', () => {
    const row = JSON.parse('{"__proto__":1}') as Row;
    expect(complaints(assigned([row], []))).toEqual([[]]);
    expect(typesOf([row])).toContain('__proto__: number');
  });

  const samples: [string, unknown[]][] = [
    ['references', [{ id: 'a', name: 'b' }, { _id: 'c' }]],
    ['lists of references', [[{ id: 'a', name: 'b' }], [], null]],
    ['lists of lists', [[['a'], ['b']], [[1]]]],
    ['lists of lists of references', [[[{ id: 'a' }]]]],
    ['lists of times and of texts', [['2026-03-01T00:00:00Z'], ['a']]],
    ['lists of nothing', [[null, null]]],
    ['lists of empty lists', [[[]]]],
    ['lists of anything', [['a', 1, null, { x: 1 }]]],
    ['empty lists', [[]]],
    ['nothing but null', [null]],
    ['objects without keys', [{}]],
    [
      'objects with more keys than are listed',
      [Object.fromEntries(Array.from({ length: 9 }, (_, key) => [`k${key}`, 1]))],
    ],
    ['objects with every name above', names.map((name) => ({ [name]: name }))],
    ['texts, numbers, truths and times', ['a', 1, true, '2026-03-01T00:00:00Z']],
  ];
  it.each(samples)('schema --types: the compiler accepts rows with %s', (_what, values) => {
    expect(complaints(assigned(values.map((value) => ({ 값: value }))))).toEqual([[]]);
  });

  it('schema --types: the compiler refuses an unknown field, a missing field and a value of another type', () => {
    const rows = [{ id: 'a', 팀: [{ id: 't', name: '1팀' }], 등급: 'A' }];
    const refused = [
      { id: 'a' },
      { ...rows[0], 없음: 1 },
      { ...rows[0], 등급: 1 },
      { ...rows[0], 팀: [{ id: 1, name: 'x' }] },
    ];
    const said = complaints(...refused.map((row) => assigned(rows, [row])));
    expect(said.map(({ length }) => length > 0)).toEqual(refused.map(() => true));
  });
});
