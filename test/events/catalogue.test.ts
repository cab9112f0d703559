/** docs/events.md, docs/events.schema.json and docs/asyncapi.json are what the code says: `npx vitest run test/events/catalogue.test.ts -u`. */
import { Ajv2020 } from 'ajv/dist/2020.js';
import { describe, expect, it } from 'vitest';
import published from '../../docs/asyncapi.json' with { type: 'json' };
import { createLists, readyMadeLists } from '../../src/crm/lists/lists.js';
import { EVENT_TYPES, NOTICE_TYPES } from '../../src/events/catalogue.js';
import { exampleEvent } from '../../src/events/example.js';
import { NOTICE_KINDS } from '../../src/events/kinds.js';
import type { ChangeEvent } from '../../src/events/types.js';
import { problemsOf } from '../support/event-schemas.js';
import { noticeRows } from '../../.ci/docs/notices.js';
import { asyncApiDocument, eventsPage, schemaDocument } from '../../.ci/docs/events.js';

const TYPES = [...EVENT_TYPES, ...NOTICE_TYPES];

/** Events that sweeps of a sandbox found are kept in the AsyncAPI document. A new type begins with an event that is made up. */
function exampleOf(type: string): ChangeEvent {
  const messages: Readonly<Record<string, { examples: readonly { payload: unknown }[] }>> =
    published.components.messages;
  const lists = createLists(readyMadeLists.all);
  const madeUp = () =>
    exampleEvent(type, { id: `evt_${'0'.repeat(32)}`, workspace: 'acme', at: '2026-03-01T00:00:00.000Z', lists });
  return (messages[type]?.examples[0]?.payload as ChangeEvent | undefined) ?? madeUp();
}
const examples = new Map(TYPES.map((type) => [type as string, exampleOf(type)]));

const schema = JSON.parse(schemaDocument()) as { $id: string };
const ajv = new Ajv2020({ formats: { 'date-time': (text: string) => !Number.isNaN(Date.parse(text)) } });
ajv.addSchema(schema);
const isEvent = ajv.getSchema(schema.$id)!;
const isOfType = (type: string, event: unknown): unknown => ajv.getSchema(`${schema.$id}#/$defs/${type}`)!(event);

describe('event catalogue', () => {
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
