import { readFile } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { CHROMIUM, expectSound, NARROW, useBrowser, WIDE } from '../../../support/browser.js';
import { eventually } from '../../../support/eventually.js';
import { startOtherCrm, type OtherRecord } from '../../../support/other-crm.js';
import { handlerOf, startPageFeed } from '../../../support/page-feed.js';
import { useRedis } from '../../../support/redis.js';

describe.skipIf(CHROMIUM === null)('status page: records', () => {
  const redis = useRedis();
  const browse = useBrowser();

  /** A list with one deal-maker, whose position has changed, and what refers to her. */
  const open = async () => {
    const crm = await startOtherCrm();
    const person = (more: object): OtherRecord => ({ id: 'p1', 이름: '김하나', ...more });
    crm.lists.people = [
      person({ 포지션: '대리', '전체 TODO': 0, '수정 날짜': '2026-03-01T00:00:00.000Z' }),
      { id: 'p2', 이름: '이둘', 포지션: '사원', '수정 날짜': '2026-03-01T00:00:00.000Z' },
    ];
    crm.lists.todo = [{ id: 't1', peopleId: 'p1', 내용: '견적 보내기', '생성 날짜': '2026-03-02T00:00:00.000Z' }];
    crm.lists.memo = [{ id: 'm1', peopleId: 'p1', text: '통화함', createdAt: '2026-03-03T00:00:00.000Z' }];
    const page = await startPageFeed(redis, {
      crm,
      roles: ['poll', 'dispatch', 'handle'],
      lists: { people: { interval: '1s' }, activity: { interval: '1s' } },
      subscriptions: [handlerOf('orders')],
    });
    crm.lists.activity.push({ id: 'a9', peopleId: 'p1', type: 'email', date: '2026-03-03T12:00:00.000Z' });
    const before = new Date().toISOString();
    crm.lists.people[0] = person({ 포지션: '과장', '전체 TODO': 0, '수정 날짜': '2026-03-04T00:00:00.000Z' });
    const changes = async () =>
      (await page.feed.history({ list: 'people', id: 'p1' })).changes.map(({ class: kind }) => kind);
    await eventually(async () => expect(await changes()).toEqual(['edited']));
    crm.lists.people[0] = person({ 포지션: '과장', '전체 TODO': 1, '수정 날짜': '2026-03-05T00:00:00.000Z' });
    await eventually(async () => expect(await changes()).toEqual(['refreshed', 'edited']));
    return { ...page, before };
  };

  it('records: a record has its time line with what refers to it, who got each change, and what it was on a day', async () => {
    const { url, before } = await open();
    const { page, complaints } = await browse(`${url}/#/records?list=person&id=p1`, { viewport: WIDE });
    await page.getByRole('heading', { name: '김하나' }).waitFor();
    const lines = page.locator('.past > .event');
    await eventually(async () =>
      expect((await lines.allInnerTexts()).map((text) => text.replace(/\s+/g, ' ')).join('\n')).toMatch(
        /^1 change of values .*\n.*updated .*포지션.*대리.*과장.*\n.*email.*\n.*memo 통화함.*\n.*todo 견적 보내기/,
      ),
    );
    await lines.nth(1).getByRole('button', { name: 'Who got it' }).click();
    await lines.nth(1).getByText('delivered').waitFor();
    await expectSound(page);
    await page.goto(`${url}/#/records?list=people&id=p1&at=${before}`);
    await page.locator('.values').getByText('대리').waitFor();
    expect(await page.locator('.past > .event').getByText('과장').count()).toBe(0);
    await page.getByRole('link', { name: '견적 보내기' }).click();
    await page.getByRole('heading', { name: '견적 보내기' }).waitFor();
    await page.goto(`${url}/#/records?list=people&id=p1&at=2020-01-01T00:00`);
    await page.getByText('The history of the list "people" is known from').waitFor();
    expect(complaints.filter((one) => !one.includes('409'))).toEqual([]);
  });

  it('records: a list is shown as it was, by name, in Korean, and leads to its records', async () => {
    const { url, before } = await open();
    const { page } = await browse(`${url}/#/records`, { viewport: NARROW, locale: 'ko-KR' });
    await page.getByText('과장').waitFor();
    await page.goto(`${url}/#/records?list=people&at=${before}`);
    await page.getByText('대리').waitFor();
    await page.getByText('레코드 2건').waitFor();
    const saved = page.waitForEvent('download');
    await page.getByRole('button', { name: 'CSV 저장' }).click();
    const file = await (await saved).path();
    expect((await readFile(file, 'utf8')).match(/^\ufeffid,|김하나|대리/g)).toEqual(['\ufeffid,', '김하나', '대리']);
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
    await page.getByRole('button', { name: '복사' }).click();
    await page.getByText('복사했습니다').waitFor();
    expect(await page.evaluate('navigator.clipboard.readText()')).toMatch(/^id\t[^]*김하나/);
    await page.getByLabel('이름').fill('하나');
    await page.getByText('레코드 1건').waitFor();
    await expectSound(page);
    await page.getByRole('link', { name: '김하나' }).click();
    await page.locator('.values').getByText('대리').waitFor();
    expect(page.url()).toContain('at=');
  });
});
