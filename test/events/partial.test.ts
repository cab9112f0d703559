import { describe, expect, it } from 'vitest';
import { createPartialReader, type AskedFields } from '../../src/events/partial.js';
import { changeEvent } from '../support/events.js';
import { seeded } from '../support/fan-out.js';

const NAMES = ['등급', 'a"b', '\\', '{', 'after', 'changes', '담당자', ''];
const NONE: AskedFields = { before: [], after: [], changes: [] };
const TEXTS = ['A', '"등급":"A"', '\\"', '{"등급":1}', ',"after":{', ']}', '한글 \u0000\n', '\ud800', '😀'];

describe('partial', () => {
  const roll = seeded(7);
  const pick = <One>(some: readonly One[]): One => some[Math.floor(roll() * some.length)] as One;
  const value = (depth: number): unknown =>
    pick<() => unknown>([
      () => pick(TEXTS),
      () => pick([0, -1.5e-7, true, false, null, {}, []]),
      () => (depth === 0 ? 'A' : record(depth - 1)),
      () => (depth === 0 ? 'A' : [value(depth - 1), value(depth - 1)]),
    ])();
  const record = (depth: number): Record<string, unknown> =>
    Object.fromEntries(NAMES.filter(() => roll() < 0.8).map((name) => [name, value(depth)]));
  const event = () => {
    const { data, ...others } = changeEvent({ record: 'p1', sequence: 1 });
    const images = { before: roll() < 0.2 ? null : record(2), after: roll() < 0.2 ? null : record(2) };
    return { ...others, data: { ...data, ...images, changes: [{ field: '등급', before: value(1), after: null }] } };
  };
  const only = (image: Record<string, unknown>, names: readonly string[]) =>
    Object.fromEntries(Object.entries(image).filter(([name]) => names.includes(name)));
  const some = () => NAMES.filter(() => roll() < 0.15);

  it('partial: an event is as when it is read whole, with the asked fields only, or it is not read', () => {
    const read = { new: 0, old: 0, unread: 0 };
    for (let turn = 0; turn < 4_000; turn += 1) {
      const whole = event();
      const asks = { before: [], after: some(), changes: some() };
      const part = createPartialReader(asks)(Buffer.from(JSON.stringify(whole)));
      const { before, after } = whole.data;
      const names = before === null ? [...asks.after, ...asks.changes] : asks.after;
      read[part === null ? 'unread' : before === null ? 'new' : 'old'] += 1;
      if (part === null) continue;
      const images = { before: before && {}, after: only(after ?? {}, names) };
      expect(part).toEqual(JSON.parse(JSON.stringify({ ...whole, data: { ...whole.data, ...images } })));
      expect(names.every((name) => Object.hasOwn(after ?? {}, name))).toBe(true);
    }
    expect(Math.min(...Object.values(read))).toBeGreaterThan(200);
  });

  const { data, ...others } = changeEvent({ record: 'p1', sequence: 1 });
  const changes = [{ field: '등급', before: 'B', after: 'A' }];
  const read = (asks: Partial<AskedFields>, more: object) =>
    createPartialReader({ ...NONE, ...asks })(
      Buffer.from(JSON.stringify({ ...others, data: { ...data, changes, ...more } })),
    );

  it('partial: of a record that was and is, what has changed is read without the record', () => {
    expect(read({ changes: ['등급', '담당자.id'] }, {})).toEqual({
      ...others,
      data: { ...data, before: {}, after: {}, changes },
    });
  });

  it.each<[string, Partial<AskedFields>, object]>([
    ['a record of which the former values are asked', { before: ['등급'] }, {}],
    ['a removed record', {}, { after: null }],
    ['a field in another composition', { after: ['등급'] }, { after: { ['등급'.normalize('NFD')]: 'A' } }],
    ['a field within a field', { after: ['등급'] }, { after: { 담당자: { 등급: 'A' }, 이름: 'A' } }],
    ['a name that leads into a reference', { after: ['담당자.id'] }, { after: { 담당자: { id: 'u1' } } }],
    ['changes within the changes', {}, { changes: [{ field: 'a', before: null, after: { a: {}, changes: [] } }] }],
    ['no changes but those within the record', {}, { after: { a: {}, changes: [] }, changes: undefined }],
  ])('partial: is left to the whole event: %s', (_what, asks, more) => {
    expect(read(asks, more)).toBeNull();
  });

  it.each(['', '{}', '{"specversion":"1.0","data":{"before":{}}}', 'null', '{"specversion":"1.0","id":"x'])(
    'partial: what has another form is not read: %s',
    (json) => expect(createPartialReader(NONE)(Buffer.from(json))).toBeNull(),
  );
});
