import { describe, expect, it } from 'vitest';
import { createPartialReader } from '../../src/events/partial.js';
import { changeEvent } from '../support/events.js';
import { seeded } from '../support/fan-out.js';

const NAMES = ['등급', 'a"b', '\\', '{', 'after', 'changes', '담당자', ''];
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
  const only = (image: Record<string, unknown> | null, names: readonly string[]) =>
    image && Object.fromEntries(Object.entries(image).filter(([name]) => names.includes(name)));

  it('partial: an event is as when it is read whole, with the asked fields only, or it is not read', () => {
    let read = 0;
    for (let turn = 0; turn < 2_000; turn += 1) {
      const whole = event();
      const names = NAMES.filter(() => roll() < 0.3);
      const part = createPartialReader(names)(Buffer.from(JSON.stringify(whole)));
      const { before, after } = whole.data;
      const isComplete = [before, after].every((image) => names.every((name) => image === null || name in image));
      expect(part !== null).toBe(isComplete);
      if (part === null) continue;
      read += 1;
      const images = { before: only(before, names), after: only(after, names) };
      expect(part).toEqual(JSON.parse(JSON.stringify({ ...whole, data: { ...whole.data, ...images } })));
    }
    expect(read).toBeGreaterThan(500);
  });

  it.each(['', '{}', '{"specversion":"1.0","data":{"before":{}}}', 'null', '{"specversion":"1.0","id":"x'])(
    'partial: what has another form is not read: %s',
    (json) => expect(createPartialReader([])(Buffer.from(json))).toBeNull(),
  );

  it('partial: a field in another composition is left to the whole event', () => {
    const { data, ...others } = changeEvent({ record: 'p1', sequence: 1 });
    const json = JSON.stringify({ ...others, data: { ...data, after: { ['등급'.normalize('NFD')]: 'A' } } });
    expect(createPartialReader(['등급'])(Buffer.from(json))).toBeNull();
  });
});
