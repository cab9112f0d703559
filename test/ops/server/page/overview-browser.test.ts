import { describe, expect, it } from 'vitest';
import { CHROMIUM, expectSound, NARROW, useBrowser, WIDE } from '../../../support/browser.js';
import { eventually } from '../../../support/eventually.js';
import { handlerOf, startPageFeed } from '../../../support/page-feed.js';
import { startOtherCrm } from '../../../support/other-crm.js';
import { useRedis } from '../../../support/redis.js';

describe.skipIf(CHROMIUM === null)('status page: overview', () => {
  const redis = useRedis();
  const browse = useBrowser();

  /** A person was renamed twice and became A; one subscription gets it, another asks for grade B. */
  async function open() {
    const crm = await startOtherCrm();
    const handled: string[] = [];
    const onlyB = { ...handlerOf('only-b'), on: ['crm.person.*'], where: undefined };
    const page = await startPageFeed(redis, {
      crm,
      roles: ['poll', 'dispatch', 'handle'],
      lists: { people: { interval: '1s' } },
      subscriptions: [handlerOf('orders', () => null, handled), { ...onlyB, fields: ['등급'] }],
    });
    const [first] = crm.lists.people;
    crm.lists.people[0] = { ...first!, 이름: '오주하', '수정 날짜': new Date().toISOString() };
    await eventually(() => expect(handled).toHaveLength(1));
    return { ...page, handled };
  }

  it.each([
    {
      locale: 'en-GB',
      viewport: WIDE,
      before: 'before: 0',
      ...{ title: 'Why did it not come?', came: 'It came: delivered', not: 'No: it is not for it, because of' },
      ...{ name: 'Name or id of the record', to: 'To whom', again: 'Send again', done: 'It is being sent.' },
    },
    {
      locale: 'ko-KR',
      viewport: NARROW,
      before: '이전 0',
      ...{ title: '왜 안 왔나요?', came: '왔습니다:', not: '아니요: 조건에 맞지 않았습니다:' },
      ...{ name: '레코드 이름 또는 ID', to: '받는 곳', again: '다시 보내기', done: '보내고 있습니다.' },
    },
  ] as const)(
    'page ($locale): each number of the overview leads to its changes; a sentence says why a message did not come, and one is sent again',
    async (said) => {
      const { url, handled } = await open();
      const { locale, viewport } = said;
      const { page, complaints } = await browse(`${url}/#/overview`, { locale, viewport });
      const tile = page.locator('.tiles > div').first();
      await tile.getByText(said.before).waitFor();
      await page.locator('.plot canvas').waitFor();
      await expectSound(page);
      // No sentence of the other language; names of fields are the CRM's.
      if (locale === 'ko-KR') expect(await page.locator('main').innerText()).not.toMatch(/[a-z]{2,} [a-z]{2,}/i);
      // By keyboard alone.
      await tile.getByRole('link').press('Enter');
      await page.locator('.event .title').filter({ hasText: '오주하' }).waitFor();
      await page.goto(`${url}/#/subscriptions`);
      const box = page.getByRole('region', { name: said.title });
      await box.getByLabel(said.name).fill('오주하');
      await box.getByText(said.came).waitFor();
      await expectSound(page);
      await box.getByRole('button', { name: said.again }).press('Enter');
      const dialog = page.getByRole('dialog');
      await eventually(async () =>
        expect(await dialog.getByRole('button', { name: said.again }).isEnabled()).toBe(true),
      );
      await dialog.getByRole('button', { name: said.again }).press('Enter');
      await dialog.getByText(said.done).waitFor();
      await eventually(() => expect(handled).toHaveLength(2));
      await page.keyboard.press('Escape');
      await box.getByLabel(said.to).selectOption('only-b');
      await box.getByText(said.not).waitFor();
      expect(complaints).toEqual([]);
    },
  );
});
