import { describe, expect, it } from 'vitest';
import type { StoredRecord } from '../../src/detect/stored-record.js';
import { contentOf, fingerprintsOf } from '../../src/detect/stored-record.js';
import { deletedRecord } from '../../src/detect/removal.js';
import { compileRules } from '../../src/detect/rules.js';
import { runCase, observation, personAt } from '../support/detect-case.js';

const rules = () => compileRules('people');
const { observedAt: at, sweep } = observation;
const digest = expect.stringMatching(/^[\w-]{11}$/u) as string;
const event = expect.stringMatching(/^evt_/u) as string;
const known = (given: Partial<StoredRecord> = {}): StoredRecord => ({ sequence: 4, record: personAt(5), ...given });

describe('stored record: after a decision', () => {
  it('names 100 of very many changed fields and counts the others', () => {
    const many = Object.fromEntries(
      Array.from({ length: 1_000 }, (_, n) => [`field ${String(n).padStart(4, '0')}`, n]),
    );
    const [decision] = runCase({ stored: known(), record: personAt(6, many) }).next.decisions ?? [];
    expect(decision).toMatchObject({ what: 'edited', furtherFields: 900 });
    expect(decision?.fields).toHaveLength(100);
  });

  it('names the schema as the rule after a schema change', () => {
    const { next } = runCase({
      stored: known(),
      record: personAt(5, { 이름: '새이름' }),
      rules: { ...rules(), compares: () => false, mutedBy: () => null },
    });
    expect(next).toMatchObject({ beforeDrift: digest, decisions: [{ what: 'muted', rule: 'schema' }] });
  });
});

describe('stored record: without images', () => {
  const fields = (record: Record<string, unknown>) => fingerprintsOf(record, rules());
  const printed = (more: Partial<StoredRecord> = {}): StoredRecord => ({
    sequence: 4,
    record: null,
    fields: fields(personAt(5)),
    modifiedAt: '2026-03-01T10:05:05.000Z',
    content: contentOf(personAt(5), rules()),
    ...more,
  });

  it('holds fingerprints, modifiedAt and the digest of the content', () => {
    const record = personAt(6, { 이름: '새이름' });
    expect(runCase({ stored: printed(), record, images: false }).next).toStrictEqual({
      sequence: 5,
      record: null,
      fields: fields(record),
      modifiedAt: '2026-03-01T10:06:05.000Z',
      content: digest,
      decisions: [{ at, sweep, what: 'edited', fields: ['이름'], event }],
    });
  });

  it('holds the image alone, or no image, when images are switched on or off', () => {
    const record = personAt(6, { 이름: '새이름' });
    const off = runCase({ stored: known(), record, images: false });
    expect([off.detection.kind, off.next.record, off.next.content]).toStrictEqual(['edited', null, digest]);
    const on = runCase({ stored: printed(), record });
    expect([on.detection.kind, on.next.record, on.next.fields]).toStrictEqual(['edited', record, undefined]);
  });
});

describe('stored record: after a removal', () => {
  const step = { at, sweep, event: 'evt_9' };

  it('holds sequence and modifiedAt, and no content', () => {
    const trail = [{ at: '2026-01-01T00:00:00.000Z', sweep: 's', what: 'created', event: 'evt_1' }] as const;
    expect(deletedRecord(known({ decisions: trail }), { ...step, sequence: 5 }, rules())).toStrictEqual({
      sequence: 5,
      record: null,
      gone: { at, modifiedAt: '2026-03-01T10:05:05.000Z' },
      decisions: [...trail, { ...step, what: 'deleted' }],
    });
  });

  it('holds the same when only fingerprints were kept', () => {
    const fields = fingerprintsOf(personAt(5), rules());
    const gone = deletedRecord(
      { sequence: 1, record: null, fields, modifiedAt: '2026-03-01T10:05:05.000Z', content: 'c' },
      { ...step, sequence: 2 },
      rules(),
    );
    expect(gone).toStrictEqual({
      sequence: 2,
      record: null,
      gone: { at, modifiedAt: '2026-03-01T10:05:05.000Z' },
      decisions: [{ ...step, what: 'deleted' }],
    });
    expect(
      deletedRecord({ sequence: 1, record: null, fields: {} }, { ...step, sequence: 2 }, rules()).gone?.modifiedAt,
    ).toBeNull();
  });

  it('is an ordinary record again once it has reappeared', () => {
    const gone = deletedRecord(known(), { ...step, sequence: 5 }, rules());
    const { next } = runCase({ stored: gone, record: personAt(6) });
    expect(next).toStrictEqual({
      sequence: 6,
      record: personAt(6),
      decisions: [
        { ...step, what: 'deleted' },
        { at, sweep, what: 'reappeared', event },
      ],
    });
  });
});
