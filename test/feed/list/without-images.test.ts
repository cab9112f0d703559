/** A list with `images: false`: one digest per record says whether it changed. */
import { describe, expect, it } from 'vitest';
import type { FieldRules } from '../../../src/feed/detect/rules.js';
import type { UncheckedRecord } from '../../../src/crm/record.js';
import { listedApi } from '../../support/listed.js';
import { customers } from '../../support/records.js';
import { useRedis } from '../../support/redis.js';
import { sweptList, type SweptList } from '../../support/swept-list.js';

const stamp = (minute: number) => ({ '수정 날짜': `2026-03-01T10:0${minute}:05.000Z` });
const kim = {
  id: 'a',
  이름: '비밀이름',
  '딜 개수': 1,
  팀: [{ id: 'x' }, { id: 'y' }],
  '프로필 사진': 'https://i/a?sig=1&se=1',
};
const EDITED = { 이름: '비밀이름2', ...stamp(2) };

describe('without images:', () => {
  const redis = useRedis();
  const listOf = (...records: UncheckedRecord[]) => {
    const api = listedApi(records);
    const list = sweptList(redis, api);
    const show = async (now: readonly UncheckedRecord[], rules: FieldRules = {}, images = false) => {
      api.records = [...now];
      return await list.sweep({ images, rules });
    };
    return { ...list, show };
  };
  const classes = async ({ events }: Pick<SweptList, 'events'>) =>
    (await events()).map(({ subject, data }) => `${subject} ${data.class} ${data.detectedBy}`);

  it('no contents are in Redis, and events carry none: edited or refreshed', async () => {
    const list = listOf();
    const first = { ...kim, ...stamp(1) };
    await list.show([first]);
    await list.show([{ ...first, ...EDITED }]);
    await list.show([{ ...first, ...EDITED, '딜 개수': 2 }]);
    await list.show([]);
    await list.show([]);
    expect(
      (await list.events()).map(({ type, data }) => [type, data.class, data.before, data.after, data.changes]),
    ).toEqual([
      ['crm.person.updated', 'edited', null, { id: 'a' }, []],
      ['crm.person.updated', 'refreshed', null, { id: 'a' }, []],
      ['crm.person.deleted', 'edited', null, null, []],
    ]);
    const [state] = await list.store.records('people', ['a']);
    expect(JSON.stringify([state, await list.events()])).not.toMatch(/비밀/u);
  });

  it('what is equal in meaning is no event', async () => {
    const list = listOf();
    await list.show([{ ...kim, 전화: null, ...stamp(1) }]);
    const { counts } = await list.show([
      {
        ...stamp(2),
        '프로필 사진': 'https://i/a?sig=2&se=2',
        팀: [{ id: 'y' }, { id: 'x' }],
        '딜 개수': 1,
        이름: kim.이름,
        id: 'a',
      },
    ]);
    expect([counts.touched, await list.events()]).toEqual([1, []]);
  });

  it('a change of ignored fields is no event, and changed rules report only records whose own time moved', async () => {
    const list = listOf();
    const [a, b, c] = ['a', 'b', 'c'].map((id) => ({ ...kim, id, ...stamp(1) }));
    const ignoring = { ignore: ['딜 개수'] };
    await list.show([a!, b!, c!], ignoring);
    await list.show([{ ...a!, '딜 개수': 2 }, b!, c!], ignoring);
    expect(await classes(list)).toEqual([]);
    const now = [{ ...a!, '딜 개수': 3 }, { ...b!, ...EDITED }, c!];
    await list.show(now);
    expect(await classes(list)).toEqual(['b edited both']);
    // Every record, also one that stayed as it was, is compared under the new rules from now on.
    await list.show([now[0]!, now[1]!, { ...c!, '딜 개수': 2 }]);
    expect(await classes(list)).toEqual(['b edited both', 'c refreshed content']);
  });

  it.each([
    ['that appears', { 출처: 'web' }],
    ['that is filled', { 메모: 'm' }],
  ])('a field %s on all rows is one event, and does not hide an edit', async (_what, more) => {
    const list = listOf();
    await list.show(customers(30));
    await list.show(customers(30, (n) => ({ ...more, ...(n === 7 && EDITED) })));
    const emitted = (await list.events()).map(({ type, subject }) => `${type} ${subject}`);
    expect(emitted).toEqual([`crm.person.schema_changed schema:${Object.keys(more)[0]}`, 'crm.person.updated p007']);
    // The field is gone again, on the row of the edit too.
    const { counts } = await list.show(customers(30, (n) => (n === 7 ? EDITED : {})));
    expect([counts.ignored, counts.edited]).toEqual([29, 1]);
    expect((await list.show(customers(30, (n) => ({ ...more, ...(n === 7 && EDITED) })))).counts.ignored).toBe(30);
    expect((await list.show(customers(30, (n) => ({ ...more, ...(n === 7 && EDITED) })))).counts.unchanged).toBe(30);
  });

  it('a new field of few rows is an event of each', async () => {
    const list = listOf();
    await list.show(customers(30));
    await list.show(customers(30, (n) => (n < 3 ? { 출처: 'web', ...stamp(2) } : {})));
    expect(await classes(list)).toEqual(['p000 edited both', 'p001 edited both', 'p002 edited both']);
  });

  it('switching images on or off yields no events', async () => {
    const list = listOf();
    for (const [name, images] of [
      ['1', true],
      ['2', false],
      ['3', false],
      ['4', true],
      ['5', true],
    ] as const)
      await list.show([{ ...kim, 이름: name }, { id: 'b' }], {}, images);
    expect(await list.eventLines()).toEqual([1, 2, 3, 4].map((sequence) => `updated a ${sequence}`));
    const [state] = await list.store.records('people', ['b']);
    expect(state?.image).toBe('{"id":"b"}');
  });

  it('switching images on or off writes every record again, though no page has changed', async () => {
    const list = listOf();
    const rows = customers(7);
    const kept = async (images: boolean): Promise<number> => {
      const { counts } = await list.show(rows, {}, images);
      expect(counts.seen).toBe(7);
      const states = await list.store.records(
        'people',
        rows.map(({ id }) => String(id)),
      );
      return states.filter((state) => state?.image != null).length;
    };
    const shown: number[] = [];
    for (const images of [true, false, true, false]) shown.push(await kept(images));
    expect(shown).toEqual([7, 0, 7, 0]);
    expect(await list.events()).toEqual([]);
  });
});
