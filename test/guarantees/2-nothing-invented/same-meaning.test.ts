/** Guarantee 2 where a server writes the values of every row in another way, all at once or in every answer. */
import { describe, expect, it } from 'vitest';
import { sweepInNewLives } from '../../support/feed.js';
import { startOtherCrm, type OtherRecord } from '../../support/other-crm.js';
import { useRedis } from '../../support/redis.js';

const ROWS = 20;

const signed = (url: string, at: number): string => `${url}?v=1&X-Amz-Date=${at}&X-Amz-Signature=${at}f`;

/** @param ms whether times have milliseconds @param at changes every signature */
const person = (index: number, { ms, at }: { ms: boolean; at: number }): OtherRecord => ({
  id: `p${index}`,
  이름: `사람 ${index}`,
  '생성 날짜': `2026-03-01T00:00:0${index % 10}${ms ? '.000' : ''}Z`,
  '수정 날짜': `2026-03-01T10:00:0${index % 10}${ms ? '.000' : ''}Z`,
  계약서: [{ id: 'f', name: 'a.pdf', url: signed('https://files.example/a.pdf', at) }],
  소개: `<p>계약 <img src="${signed('https://files.example/b.png', at)}"/></p>`,
  '프로필 사진': signed('https://files.example/c.png', at),
});

describe('nothing invented: values of the same meaning', () => {
  const redis = useRedis();

  it.each([true, false])('written otherwise on every row are no event, and an edit is; images %s', async (images) => {
    const [crm, run] = [await startOtherCrm(), sweepInNewLives({ redis })];
    const show = (how: { ms: boolean; at: number }): void => {
      crm.lists.people = Array.from({ length: ROWS }, (_, index) => person(index, how));
    };
    show({ ms: true, at: 1 });
    await run(crm, { images });
    show({ ms: false, at: 2 });
    expect(await run(crm, { images })).toEqual([]);

    show({ ms: true, at: 3 });
    Object.assign(crm.lists.people[5]!, {
      소개: `<p>계약 <img src="${signed('https://files.example/d.png', 3)}"/></p>`,
    });
    const events = await run(crm, { images });
    expect(events.map(({ subject, data }) => [subject, data.class])).toEqual([['p5', 'edited']]);
    // Events show the text as it came.
    expect(JSON.stringify(events)).toContain(images ? 'd.png?v=1&X-Amz-Date=3' : 'p5');
  });
});
