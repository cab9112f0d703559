import { describe, expect, it } from 'vitest';
import type { StoredRecord } from '../../src/detect/known.js';
import { fingerprintsOf } from '../../src/detect/known.js';
import { rememberGone } from '../../src/detect/remember.js';
import { compileRules } from '../../src/detect/rules.js';
import { look, observation, personAt } from '../support/one-look.js';

const rules = () => compileRules('people');
const { observedAt: at, sweep } = observation;
const digest = expect.stringMatching(/^[\w-]{11}$/u) as string;
const event = expect.stringMatching(/^evt_/u) as string;
const known = (given: Partial<StoredRecord> = {}): StoredRecord => ({ sequence: 4, record: personAt(5), ...given });

describe('what is remembered of a record', () => {
  it('after its first event: the image and the decision', () => {
    expect(look({ record: personAt(5) }).next).toStrictEqual({
      sequence: 1,
      record: personAt(5),
      decisions: [{ at, sweep, what: 'created', event }],
    });
  });

  it('after a quiet baseline: the image, and no decision worth telling', () => {
    expect(look({ record: personAt(5), baseline: 'quiet' }).next).toStrictEqual({ sequence: 0, record: personAt(5) });
  });

  it('after a baseline that speaks: that it was created', () => {
    const { next } = look({ record: personAt(5), baseline: 'emit' });
    expect(next?.decisions).toStrictEqual([{ at, sweep, what: 'created', event }]);
  });

  it('after a change: the new image, a digest of the one before, and which fields', () => {
    const record = personAt(6, { 이름: '새이름', '딜 개수': 1 });
    expect(look({ known: known(), record }).next).toStrictEqual({
      sequence: 5,
      record,
      earlier: [digest],
      decisions: [{ at, sweep, what: 'edited', fields: ['딜 개수', '이름'], event }],
    });
    const refreshed = look({ known: known(), record: personAt(6, { '딜 개수': 1 }) }).next;
    expect(refreshed?.decisions).toMatchObject([{ what: 'refreshed', fields: ['딜 개수'] }]);
  });

  it('remember: of very many fields in one change the decision names some and counts the others', () => {
    const many = Object.fromEntries(
      Array.from({ length: 1_000 }, (_, n) => [`field ${String(n).padStart(4, '0')}`, n]),
    );
    const [decision] = look({ known: known(), record: personAt(6, many) }).next?.decisions ?? [];
    expect(decision).toMatchObject({ what: 'edited', furtherFields: 900 });
    expect(decision?.fields).toHaveLength(100);
  });

  it('after silence: the image moves along, and the rule that kept it quiet is told', () => {
    const muting = compileRules('people', { ignore: ['이름'] });
    const record = personAt(5, { 이름: '새이름' });
    expect(look({ known: known(), record, rules: muting }).next).toStrictEqual({
      sequence: 4,
      record,
      decisions: [{ at, sweep, what: 'muted', rule: 'ignore: 이름' }],
    });
    const touched = look({ known: known(), record: personAt(6) }).next;
    expect(touched?.decisions).toStrictEqual([{ at, sweep, what: 'touched', rule: 'touch' }]);
  });

  it('after a touch that is wanted: that it was touched, by an event without fields', () => {
    const touch = compileRules('people', { touch: true });
    const { detection, next } = look({ known: known(), record: personAt(6), rules: touch });
    expect([detection.kind, detection.sequence, detection.event?.data.detectedBy]).toStrictEqual([
      'touched',
      5,
      'timestamp',
    ]);
    expect(next?.decisions).toStrictEqual([{ at, sweep, what: 'touched', event }]);
  });

  it('after an answer that means what is known: the new image, the old trail, the old contents', () => {
    const trail = [{ at: '2026-01-01T00:00:00.000Z', sweep: 's', what: 'created', event: 'evt_1' }] as const;
    const record = { ...personAt(5), 비고: null };
    expect(look({ known: known({ earlier: ['x'], decisions: trail }), record }).next).toStrictEqual({
      sequence: 4,
      record,
      earlier: ['x'],
      decisions: trail,
    });
  });

  it('after a stale answer: all that was known, the doubt, and that there was one', () => {
    const { next } = look({ known: known({ earlier: ['x'] }), record: personAt(4, { 이름: '옛이름' }) });
    expect(next).toStrictEqual({
      ...known({ earlier: ['x'] }),
      doubt: { content: digest, sweep, sightings: 1 },
      decisions: [{ at, sweep, what: 'stale' }],
    });
  });

  it('after it was muted by what a schema change moved: that the schema did', () => {
    const { next } = look({
      known: known(),
      record: personAt(5, { 이름: '새이름' }),
      rules: { ...rules(), compares: () => false, mutedBy: () => null },
    });
    expect(next?.decisions).toMatchObject([{ what: 'muted', rule: 'schema' }]);
  });
});

describe('without images', () => {
  const fields = (record: Record<string, unknown>) => fingerprintsOf(record, rules());
  const printed = (more: Partial<StoredRecord> = {}): StoredRecord => ({
    sequence: 4,
    record: null,
    fields: fields(personAt(5)),
    modifiedAt: '2026-03-01T10:05:05.000Z',
    ...more,
  });

  it('prints and stamp are kept, and digests of the contents before', () => {
    const record = personAt(6, { 이름: '새이름' });
    expect(look({ known: printed(), record, images: false }).next).toStrictEqual({
      sequence: 5,
      record: null,
      fields: fields(record),
      modifiedAt: '2026-03-01T10:06:05.000Z',
      earlier: [digest],
      decisions: [{ at, sweep, what: 'edited', fields: ['이름'], event }],
    });
  });

  it('a switch of images forgets the contents before: they were told apart in other terms', () => {
    const record = personAt(6, { 이름: '새이름' });
    const off = look({ known: known({ earlier: ['x'] }), record, images: false });
    expect([off.detection.kind, off.next?.earlier, off.next?.record]).toStrictEqual(['edited', undefined, null]);
    const on = look({ known: printed({ earlier: ['x'] }), record });
    expect([on.detection.kind, on.next?.earlier, on.next?.record]).toStrictEqual(['edited', undefined, record]);
  });
});

describe('a record that is reported as deleted', () => {
  const step = { at, sweep, event: 'evt_9' };

  it('leaves its sequence, stamp and contents as digests, and nothing else of its content', () => {
    const trail = [{ at: '2026-01-01T00:00:00.000Z', sweep: 's', what: 'created', event: 'evt_1' }] as const;
    expect(
      rememberGone(
        known({ earlier: ['x'], decisions: trail, doubt: { content: 'y', sweep: 's', sightings: 1 } }),
        step,
        rules(),
      ),
    ).toStrictEqual({
      sequence: 5,
      record: null,
      gone: { at, modifiedAt: '2026-03-01T10:05:05.000Z', content: digest },
      earlier: ['x'],
      decisions: [...trail, { ...step, what: 'deleted' }],
    });
  });

  it('leaves the same where prints were all there was', () => {
    const fields = fingerprintsOf(personAt(5), rules());
    const gone = rememberGone(
      { sequence: 1, record: null, fields, modifiedAt: '2026-03-01T10:05:05.000Z' },
      step,
      rules(),
    );
    expect(gone).toStrictEqual({
      sequence: 2,
      record: null,
      gone: { at, modifiedAt: '2026-03-01T10:05:05.000Z', content: digest },
      decisions: [{ ...step, what: 'deleted' }],
    });
    expect(rememberGone({ sequence: 1, record: null, fields: {} }, step, rules()).gone?.modifiedAt).toBeNull();
  });

  it('is a record like any other when it is back, and says that it reappeared', () => {
    const gone = rememberGone(known({ earlier: ['x'] }), step, rules());
    const { next } = look({ known: gone, record: personAt(6) });
    expect(next).toStrictEqual({
      sequence: 6,
      record: personAt(6),
      earlier: ['x'],
      decisions: [
        { ...step, what: 'deleted' },
        { at, sweep, what: 'reappeared', event },
      ],
    });
  });
});
