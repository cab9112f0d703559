import { describe, expect, it } from 'vitest';
import { CHROMIUM, expectSound, NARROW, useBrowser } from '../../../support/browser.js';
import { startOtherCrm } from '../../../support/other-crm.js';
import { startPageFeed } from '../../../support/page-feed.js';
import { useRedis } from '../../../support/redis.js';
import { written } from '../../../support/todos.js';

describe.skipIf(CHROMIUM === null)('status page: todos', () => {
  const redis = useRedis();
  const browse = useBrowser();

  it('page: a number of todos leads to them, sorted, for one person, as a file, and each to its record', async () => {
    const crm = await startOtherCrm();
    const [kim, lee] = [
      { id: 'u1', name: '김영업' },
      { id: 'u2', name: '이지원' },
    ];
    const todo = (id: string, title: string, said: object) => ({ ...written(id, said), id, 내용: title });
    crm.lists.todo = [
      todo('t1', '나중', { due: '2026-03-05T01:00:00.000Z', owner: kim }),
      todo('t2', '먼저', { due: '2026-03-02T01:00:00.000Z', owner: kim }),
      todo('t3', '남의 것', { due: '2026-03-03T01:00:00.000Z', owner: lee }),
      todo('t4', '끝남', { done: true, owner: kim }),
    ];
    const { url } = await startPageFeed(redis, { crm, roles: ['poll', 'dispatch', 'handle'] });
    const { page, complaints } = await browse(`${url}/#/todos`, { locale: 'ko-KR', viewport: NARROW });
    await page.getByRole('combobox', { name: '나', exact: true }).selectOption('김영업');
    await expectSound(page);
    await page.getByRole('link', { name: '지연: 3' }).press('Enter');
    const titles = page.getByRole('rowheader');
    await expect.poll(() => titles.allInnerTexts()).toEqual(['먼저', '남의 것', '나중']);
    await expectSound(page);
    await page.getByRole('checkbox', { name: '내 것만' }).check();
    await expect.poll(() => titles.allInnerTexts()).toEqual(['먼저', '나중']);
    expect(page.url()).toContain('show=overdue');
    expect(page.url()).toContain('owner=u1');
    await page.getByRole('combobox', { name: '정렬' }).selectOption('title');
    await expect.poll(() => titles.allInnerTexts()).toEqual(['나중', '먼저']);
    await page.setViewportSize({ width: 1280, height: 860 });
    await page.getByRole('button', { name: '제목 순으로 정렬' }).click();
    await expect.poll(() => titles.allInnerTexts()).toEqual(['먼저', '나중']);
    await expectSound(page);
    const saving = page.waitForEvent('download');
    await page.getByRole('button', { name: 'CSV' }).click();
    expect((await saving).suggestedFilename()).toBe('todos overdue.csv');
    // As the next visit finds it.
    await page.goto(`${url}/#/todos?show=open`);
    await page.getByRole('checkbox', { name: '내 것만' }).waitFor();
    await page.getByRole('link', { name: '남의 것' }).click();
    await page.getByRole('heading', { name: '남의 것' }).waitFor();
    expect(complaints).toEqual([]);
  });
});
