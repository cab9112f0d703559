import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { loadHash } from '../../src/api/page-digest.js';
import { layoutOf, recognise, recordsIn } from '../../src/api/page-layout.js';

const hash = await loadHash();

const body = (records: readonly unknown[], nextCursor = 'c', space = 0): Buffer =>
  Buffer.from(JSON.stringify({ success: true, data: { peopleList: records, nextCursor } }, null, space));
const entriesOf = (text: string): unknown[] =>
  (JSON.parse(text) as { data: { peopleList: unknown[] } }).data.peopleList;
const recogniseIn = (bytes: Buffer, before: Buffer) => {
  const found = recognise(bytes, layoutOf(before, hash)!, hash);
  return found === null ? null : { ...found, text: found.text((part) => part.toString('utf8')) };
};
const person = (id: number, name = '가상인') => ({ id: `p${id}`, 이름: name, 팀: [{ id: 't', name: '}]"\\' }] });

describe('page layout', () => {
  it('page layout: an edited record is parsed, the others are recognised', () => {
    const before = [1, 2, 3, 4].map((id) => person(id));
    const after = before.map((record, at) => (at === 1 ? person(2, '다른 이름') : record));
    const found = recogniseIn(body(after, 'other cursor'), body(before));
    expect(entriesOf(found!.text)).toEqual([0, after[1], 2, 3]);
    expect(found!.layout).toEqual(layoutOf(body(after), hash));
  });

  it('page layout: records are recognised at other places, after an insertion and a removal', () => {
    const records = [1, 2, 3, 4, 5, 6].map((id) => person(id));
    const after = [person(9), ...records.slice(0, 2), ...records.slice(3)];
    expect(entriesOf(recogniseIn(body(after), body(records))!.text)).toEqual([person(9), 0, 1, 3, 4, 5]);
  });

  it('page layout: every page is put together again from known and parsed records, or it is not recognised', () => {
    // As JSON writes them: it has no -0.
    const value = fc.json().map((text): unknown => JSON.parse(JSON.stringify(JSON.parse(text))));
    const record = fc.dictionary(fc.constantFrom('id', '이름', 'a"b', 'data', '[{'), value, { maxKeys: 4 });
    const page = fc.uniqueArray(record, { maxLength: 12, selector: (one) => JSON.stringify(one) });
    fc.assert(
      fc.property(page, page, fc.infiniteStream(fc.nat(2)), (before, others, choose) => {
        const kept = before.flatMap((one) => {
          const [choice = 0] = [...choose.take(1)];
          return choice === 0 ? [one, ...others.splice(0, 1)] : choice === 1 ? [one] : others.splice(0, 1);
        });
        const found = recogniseIn(body(kept), body(before));
        if (found === null) return;
        const entries = entriesOf(found.text);
        expect(entries.map((entry) => (typeof entry === 'number' ? before[entry] : entry))).toEqual(
          JSON.parse(JSON.stringify(kept)),
        );
        expect(entries.filter((entry) => typeof entry === 'number')).toHaveLength(found.count);
        expect(recordsIn(found.layout)).toBe(kept.length);
      }),
    );
  });

  it('page layout: pages of another form are parsed as a whole', () => {
    const records = [1, 2, 3].map((id) => person(id));
    const layout = layoutOf(body(records), hash)!;
    const broken = body(records).subarray(0, 200);
    const forms = [body(records, 'c', 2), broken, Buffer.from(''), Buffer.from('{"data":[]}'), body([7, 8, 9])];
    expect(forms.map((bytes) => recognise(bytes, layout, hash))).toEqual(forms.map(() => null));
    expect(recogniseIn(body([4, 5, 6].map((id) => person(id))), body(records))).toBeNull();
    expect(layoutOf(body(records, 'c', 2), hash)).toBeNull();
    expect(layoutOf(body([person(1, 'x'.repeat(70_000))]), hash)).toBeNull();
  });
});
