/** docs/events.md, docs/events.schema.json and docs/asyncapi.json are what the code says: `npx vitest run test/events/catalogue.test.ts -u`. */
import { Ajv2020 } from 'ajv/dist/2020.js';
import { beforeEach, describe, expect, it } from 'vitest';
import { EVENT_TYPES, NOTICE_TYPES } from '../../src/events/catalogue.js';
import { NOTICE_KINDS, type ChangeEvent } from '../../src/events/types.js';
import { asyncApiDocument, eventsPage, schemaDocument } from '../support/event-catalogue.js';
import { eventExamples } from '../support/event-examples.js';
import { problemsOf } from '../support/event-schemas.js';
import { noticeRows } from '../support/notice-table.js';
import { useRedis } from '../support/redis.js';

const TYPES = [...EVENT_TYPES, ...NOTICE_TYPES];

const schema = JSON.parse(schemaDocument()) as { $id: string };
const ajv = new Ajv2020({ formats: { 'date-time': (text: string) => !Number.isNaN(Date.parse(text)) } });
ajv.addSchema(schema);
const isEvent = ajv.getSchema(schema.$id)!;
const isOfType = (type: string, event: unknown): unknown => ajv.getSchema(`${schema.$id}#/$defs/${type}`)!(event);

describe('event catalogue', () => {
  const redis = useRedis();
  let examples = new Map<string, ChangeEvent>();
  beforeEach(async () => {
    if (examples.size === 0) examples = await eventExamples(redis);
  }, 120_000);

  it('event catalogue: page and documents match the code', async () => {
    await expect(await eventsPage(examples)).toMatchFileSnapshot('../../docs/events.md');
    await expect(schemaDocument()).toMatchFileSnapshot('../../docs/events.schema.json');
    await expect(asyncApiDocument(examples)).toMatchFileSnapshot('../../docs/asyncapi.json');
  });

  it('event catalogue: every type has an example that its schemas accept', () => {
    expect([...examples.keys()]).toEqual(TYPES);
    for (const [type, event] of examples) {
      expect(problemsOf(event)).toEqual([]);
      expect({ type, valid: isOfType(type, event) }).toEqual({ type, valid: true });
      expect({ type, valid: isEvent(event) }).toEqual({ type, valid: true });
    }
  });

  it.each([
    ['another type', { type: 'crm.person.deleted' }],
    ['no id', { id: undefined }],
    ['a time that is none', { time: 'yesterday' }],
    ['no data', { data: {} }],
  ])('event catalogue: the schema refuses an event with %s (control)', (_what, change) => {
    const event = { ...examples.get('crm.person.updated'), ...change };
    expect(isEvent(event)).toBe(false);
    expect(isOfType('crm.person.updated', event)).toBe(false);
  });

  it('event catalogue: the operations page explains every event of the feed itself', () => {
    expect(
      noticeRows()
        .map(({ kind }) => kind)
        .sort(),
    ).toEqual([...NOTICE_KINDS].sort());
  });

  it('event catalogue: every reference in the AsyncAPI document leads to something', () => {
    const text = asyncApiDocument(examples);
    const document: unknown = JSON.parse(text);
    const references = [...text.matchAll(/"\$ref": "#\/([^"]+)"/g)].map(([, path = '']) => path);
    const resolve = (path: string): unknown =>
      path.split('/').reduce<unknown>((at, key) => (at as Record<string, unknown> | undefined)?.[key], document);
    expect(references.length).toBeGreaterThan(TYPES.length);
    expect(references.filter((path) => resolve(path) === undefined)).toEqual([]);
  });
});
