import { describe, expect, it } from 'vitest';
import { schemaEvent } from '../../../src/detect/schema-drift/drift.js';
import {
  MOST_FIELDS,
  TrackedFields,
  addToDelta,
  valueTypesOfField,
  listSchema,
  schemaFrom,
  type SchemaDelta,
} from '../../../src/detect/schema-drift/schema.js';
import { compileRules } from '../../../src/detect/rules.js';
import type { SchemaChange } from '../../../src/events/types.js';
import { observation } from '../../support/detect-case.js';

const forms = (fields: Record<string, string>) => new Map(Object.entries(fields));
const delta = (...steps: [Parameters<typeof addToDelta>[1], Parameters<typeof addToDelta>[2]][]): object => {
  const counted: SchemaDelta = new Map();
  const tracked = new TrackedFields(schemaFrom([]));
  for (const [before, after] of steps) {
    // The fields of a record are tracked since it was created.
    for (const field of before?.keys() ?? []) tracked.admits(field);
    addToDelta(counted, before, after, tracked);
  }
  return Object.fromEntries(counted);
};

describe('schema: the change made by a write', () => {
  const was = forms({ id: 'string', 등급: 'string', 메모: 'null' });
  const is = forms({ id: 'string', 등급: 'number', 출처: 'string' });

  it('adds a row and its fields for a new record, and removes them for a deleted one', () => {
    expect(delta([null, was])).toEqual({ 'string\tid': 1, 'string\t등급': 1, 'null\t메모': 1, rows: 1 });
    expect(delta([was, null])).toEqual({ 'string\tid': -1, 'string\t등급': -1, 'null\t메모': -1, rows: -1 });
  });

  it('names only changed value types of a record that stays', () => {
    expect(delta([was, is])).toEqual({ 'string\t등급': -1, 'null\t메모': -1, 'number\t등급': 1, 'string\t출처': 1 });
    expect(delta([was, was])).toEqual({});
    expect(delta([null, null])).toEqual({});
  });

  it('adds up over a page and leaves out what cancels out', () => {
    expect(delta([null, was], [null, was], [was, is])).toEqual({
      'string\tid': 2,
      'string\t등급': 1,
      'null\t메모': 1,
      'number\t등급': 1,
      'string\t출처': 1,
      rows: 2,
    });
    expect(delta([null, was], [was, null])).toEqual({});
  });
});

describe('schema: a list', () => {
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

  it('is read from its counters, without those that are zero', () => {
    expect(schema().rows).toBe(20);
    expect(Object.fromEntries([...schema().fields].map(([field, of]) => [field, Object.fromEntries(of)]))).toEqual({
      등급: { string: 6, number: 9 },
      '담\t당': { '{id, name}': 20 },
      id: { string: 20 },
    });
  });

  it('counts the rows with each value type of a field, and those that lack it', () => {
    expect(valueTypesOfField(schema(), '등급')).toEqual({ string: 6, number: 9, absent: 5 });
    expect(valueTypesOfField(schema(), '담\t당')).toEqual({ '{id, name}': 20 });
    expect(valueTypesOfField(schema(), '메모')).toEqual({ absent: 20 });
  });

  it('is shown by name, with shares, most frequent value type first', () => {
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

  it('is empty for a list that was never swept', () => {
    expect(listSchema(schemaFrom([]))).toEqual({ rows: 0, fields: [] });
    expect(listSchema(schemaFrom([['string\tid', 3]])).fields).toMatchObject([{ share: 0 }]);
  });
});

describe('schema drift: its event', () => {
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

  it('is about the field, at the time of observation, and shows no record', () => {
    expect(eventOf(change)).toEqual({
      specversion: '1.0',
      id: expect.stringMatching(/^evt_[0-9a-f]{32}$/u) as string,
      source: '/workspaces/acme',
      type: 'crm.person.schema_changed',
      subject: 'schema:출처',
      time: '2026-03-01T12:00:00.000Z',
      datacontenttype: 'application/json',
      data: {
        before: null,
        after: null,
        changes: [],
        sequence: 2,
        class: 'refreshed',
        detectedBy: 'content',
        observedAt: '2026-03-01T12:00:00.000Z',
        sweep: 'people-2',
        schema: change,
      },
    });
  });

  it('has an id that does not depend on the number of rows', () => {
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
});

describe('schema: tracked fields', () => {
  const names = (count: number, prefix = 'f'): ReadonlyMap<string, string> =>
    new Map(Array.from({ length: count }, (_, n) => [`${prefix}${n}`, 'string']));

  it('are counted up to the limit, first come, and others are left out everywhere', () => {
    const tracked = new TrackedFields(schemaFrom([]));
    const counted: SchemaDelta = new Map();
    addToDelta(counted, null, names(MOST_FIELDS - 1), tracked);
    addToDelta(counted, null, names(2, 'late '), tracked);
    expect(counted.size).toBe(MOST_FIELDS + 1);
    expect(counted.get('string\tlate 0')).toBe(1);
    expect(counted.has('string\tlate 1')).toBe(false);
    addToDelta(counted, names(2, 'late '), null, tracked);
    expect([...counted].filter(([name]) => name.includes('late'))).toEqual([]);
  });

  it('report once that the limit is reached', () => {
    const full = schemaFrom([...names(MOST_FIELDS).keys()].map((field) => [`string\t${field}`, 1] as const));
    const filling = new TrackedFields(schemaFrom([]));
    for (const field of full.fields.keys()) filling.admits(field);
    expect(filling.justFilled()).toBe(false);
    expect([filling.admits('one more'), filling.justFilled(), filling.justFilled()]).toEqual([false, true, false]);
    const filled = new TrackedFields(full);
    expect([filled.admits('one more'), filled.justFilled()]).toEqual([false, false]);
  });
});
