import { describe, expect, it } from 'vitest';
import { CHROMIUM, expectSound, NARROW, useBrowser, WIDE } from '../../../support/browser.js';
import { startPageFeed, TOKENS } from '../../../support/page-feed.js';
import { useRedis } from '../../../support/redis.js';

describe.skipIf(CHROMIUM === null)('status page: invitations', () => {
  const redis = useRedis();
  const browse = useBrowser();

  it('page: an operator invites a colleague, whose link signs them in by name until it is revoked', async () => {
    const { url } = await startPageFeed(redis, { http: { tokens: TOKENS } });
    const { page, complaints } = await browse(`${url}/#t=${TOKENS.operate}`, { locale: 'ko-KR', viewport: NARROW });
    await page.getByRole('link', { name: '활동 기록' }).click();
    await page.getByText('아직 초대한 사람이 없습니다.').waitFor();
    await page.getByRole('button', { name: '동료 초대' }).press('Enter');
    const dialog = page.getByRole('dialog');
    await dialog.getByRole('textbox', { name: '이름' }).fill('김영업');
    await expectSound(page);
    await dialog.getByRole('button', { name: '동료 초대' }).click();
    const link = await dialog.getByRole('textbox', { name: '링크' }).inputValue();
    expect(link).toMatch(new RegExp(`^${url}/#t=[\\w-]{43}$`));
    await expectSound(page);
    await dialog.getByRole('button', { name: '닫기' }).click();
    await page.getByRole('rowheader', { name: '김영업' }).waitFor();
    await expectSound(page);

    const { page: theirs } = await browse(link, { viewport: WIDE });
    await theirs.locator('.who').getByText('김영업').waitFor();
    expect(theirs.url()).not.toContain('#t=');
    await theirs.getByRole('link', { name: 'Who did what' }).click();
    await theirs.getByRole('cell', { name: 'invited' }).waitFor();
    expect(await theirs.getByText('Who may sign in').count()).toBe(0);

    await page.getByRole('button', { name: '김영업 님의 초대 취소' }).click();
    await dialog.getByRole('button', { name: '초대 취소' }).click();
    await page.getByText('아직 초대한 사람이 없습니다.').waitFor();
    await theirs.getByText('The session has ended').waitFor();
    expect(complaints.filter((text) => !text.includes('401'))).toEqual([]);
  });
});
