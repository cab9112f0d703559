import { expect, it } from 'vitest';
import { schemaEvent } from '../../../../src/feed/detect/schema-drift/drift.js';
import {
  MOST_FIELDS,
  TrackedFields,
  addToDelta,
  listSchema,
  schemaFrom,
  type SchemaDelta,
} from '../../../../src/feed/detect/schema-drift/schema.js';
import { compileRules } from '../../../../src/feed/detect/rules.js';
import type { SchemaChange } from '../../../../src/events/types.js';
import { observation } from '../../../support/detect-case.js';

const counters = [
  ['string\t등급', 6],
  ['number\t등급', 9],
  ['rows', 20],
  ['null\t메모', 0],
  ['string\t메모', -1],
  ['{id, name}\t담\t당', 20],
  ['string\tid', 20],
  ['other', 5],
] as const;
const schema = () => schemaFrom(counters);

it('schema: a list is shown by name, with shares, most frequent value type first', () => {
  expect(listSchema(schema())).toEqual({
    rows: 20,
    fields: [
      { field: 'id', share: 1, forms: [{ form: 'string', rows: 20 }] },
      { field: '담\t당', share: 1, forms: [{ form: '{id, name}', rows: 20 }] },
      {
        field: '등급',
        share: 0.75,
        forms: [
          { form: 'number', rows: 9 },
          { form: 'string', rows: 6 },
        ],
      },
    ],
  });
});

const change: SchemaChange = {
  field: '출처',
  kind: 'appeared',
  rows: 30,
  share: 1,
  before: ['absent'],
  after: ['string'],
};
const eventOf = (schema: SchemaChange, sequence = 2) =>
  schemaEvent(schema, { rules: compileRules('people'), observation, sequence });

it('schema drift: its event has an id that does not depend on the number of rows', () => {
  const { id } = eventOf(change);
  expect(eventOf({ ...change, rows: 29, share: 0.9 }).id).toBe(id);
  const others = [
    eventOf({ ...change, kind: 'changed' }),
    eventOf({ ...change, before: ['null'] }),
    eventOf({ ...change, after: ['list'] }),
    eventOf({ ...change, field: '등급' }),
    eventOf(change, 3),
  ];
  expect(new Set([id, ...others.map((event) => event.id)]).size).toBe(6);
});

const added = (count: number, prefix = 'f') =>
  Array.from({ length: count }, (_, n) => ({ field: `${prefix}${n}`, from: 'absent', to: 'string' }));
const removed = (count: number, prefix: string) =>
  added(count, prefix).map(({ field }) => ({ field, from: 'string', to: 'absent' }));

it('schema: tracked fields are counted up to the limit, first come, and others are left out everywhere', () => {
  const tracked = new TrackedFields(schemaFrom([]));
  const counted: SchemaDelta = new Map();
  addToDelta(counted, { moves: added(MOST_FIELDS - 1), rows: 1, tracked });
  addToDelta(counted, { moves: added(2, 'late '), rows: 1, tracked });
  expect(counted.size).toBe(MOST_FIELDS + 1);
  expect(counted.get('string\tlate 0')).toBe(1);
  expect(counted.has('string\tlate 1')).toBe(false);
  addToDelta(counted, { moves: removed(2, 'late '), rows: -1, tracked });
  expect([...counted].filter(([name]) => name.includes('late'))).toEqual([]);
});
