import { describe, expect, it } from 'vitest';
import { defineHandler } from '../../../../src/delivery/handlers/define.js';
import { todoReport } from '../../../../src/delivery/handlers/message/todo-report.js';
import { CHROMIUM, expectSound, NARROW, useBrowser } from '../../../support/browser.js';
import { eventually } from '../../../support/eventually.js';
import { handlerOf, personEvent, startPageFeed, TOKENS } from '../../../support/page-feed.js';
import { appendEvents } from '../../../support/events.js';
import { useRedis } from '../../../support/redis.js';

describe.skipIf(CHROMIUM === null)('status page: receipts', () => {
  const redis = useRedis();
  const browse = useBrowser();
  async function openDelivered() {
    const opened = await startPageFeed(redis, {
      subscriptions: [
        handlerOf('orders'),
        handlerOf('broken', () => 'the receiver is broken'),
        handlerOf('later'),
        defineHandler({ name: 'memos', on: ['crm.memo.*'], handle: () => undefined }),
      ],
    });
    await opened.feed.pause('later', 'moved');
    const change = { field: '등급', before: 'B', after: 'A' };
    await appendEvents(redis, [personEvent('p1', 1, { fields: { 이름: '김하나' }, changes: [change] })]);
    await eventually(async () => expect(await opened.feed.deadLetters.count()).toBe(1));
    await eventually(async () => {
      const delivered = await opened.feed.deliveries({ subscription: 'orders' });
      expect(delivered).toMatchObject([{ outcome: 'delivered' }]);
    });
    return opened;
  }

  it.each([
    { locale: 'en-GB', said: ['delivered', 'dead letter', 'waiting', 'not selected'], open: 'Open dead letters' },
    { locale: 'ko-KR', said: ['전달됨', '전달 실패', '대기 중', '조건에 맞지 않음'], open: '전달 실패 보기' },
  ] as const)(
    'page ($locale): one click on a change says which subscription got it',
    async ({ locale, said, open }) => {
      const { url } = await openDelivered();
      const { page } = await browse(url, { locale, viewport: NARROW });
      // What is wrong with the others may stand among the changes too.
      await page.locator('.event .glance').filter({ hasText: '등급' }).click();
      const of = (name: string) => page.locator('.deliveries > li').filter({ has: page.getByRole('link', { name }) });
      for (const [index, name] of ['orders', 'broken', 'later', 'memos'].entries())
        await of(name)
          .getByText(said[index] ?? '', { exact: true })
          .waitFor();
      await expectSound(page);
      await of('broken').getByRole('link', { name: open }).click();
      await page.locator('.letter').getByText('김하나').waitFor();
    },
  );

  it.each([
    { locale: 'en-GB', viewport: { width: 1280, height: 800 }, share: 'Success, last hour', failed: 'Failed' },
    { locale: 'ko-KR', viewport: NARROW, share: '성공률(1시간)', failed: '실패' },
  ] as const)(
    'page ($locale): a click on a subscription shows what it selects, how it went, and its newest deliveries',
    async ({ locale, viewport, share, failed }) => {
      const { url } = await openDelivered();
      const { page } = await browse(`${url}/#/subscriptions`, { locale, viewport });
      await page
        .locator('.subscription')
        .filter({ hasText: 'orders' })
        .click({ position: { x: 5, y: 5 } });
      await page.getByRole('heading', { name: /orders/ }).waitFor();
      const tile = page.locator('.tiles > div').filter({ hasText: share });
      await tile.getByText('100').waitFor();
      await page.locator('.facts').getByText('crm.*').waitFor();
      const rows = page.locator('.deliveries > li');
      await rows.getByRole('link', { name: '김하나' }).waitFor();
      await expectSound(page);
      await page.locator('section select').selectOption(failed);
      await eventually(async () => expect(await rows.count()).toBe(0));
      await rows.page().goBack();
      await page.locator('.subscription').filter({ hasText: 'broken' }).getByRole('link').first().press('Enter');
      await rows.getByText('김하나').waitFor();
    },
  );

  it('page: a subscription without receipts says so, and a report offers nothing that is about events', async () => {
    const report = { url: 'https://chat.example/hooks', at: '09:00', service: 'slack' } as const;
    const { url } = await startPageFeed(redis, {
      subscriptions: [
        defineHandler({ name: 'unkept', on: ['crm.*'], receipts: false, handle: () => undefined }),
        todoReport({ name: 'morning', ...report }),
      ],
    });
    const { page } = await browse(`${url}/#/subscriptions?name=unkept`);
    await eventually(async () => expect(await page.getByText('None: its receipts are switched off.').count()).toBe(2));
    await page.goto(`${url}/#/subscriptions?name=morning`);
    await page.getByText('chat.example').waitFor();
    expect(await page.getByText('Event types').count()).toBe(0);
    expect(await page.locator('.head button').allInnerTexts()).toEqual(['Pause']);
  });

  it('page: what a receiver said is cut where many rows repeat it, and whole in the newest answer', async () => {
    const said = 'the database of the receiver is down: '.repeat(5).trim();
    const { url, feed } = await startPageFeed(redis, { subscriptions: [handlerOf('broken', () => said)] });
    await appendEvents(redis, [personEvent('p1', 1)]);
    await eventually(async () => expect(await feed.deadLetters.count()).toBe(1));
    const { page } = await browse(`${url}/#/subscriptions?name=broken`);
    await page.locator('.card > p').getByText(said).waitFor();
    const row = page.locator('.deliveries .message');
    expect(await row.innerText()).toMatch(/^.{40,65}…”$/);
    expect(await row.getAttribute('title')).toBe(said);
  });

  it('page: a person who only reads tries a subscription on the stored log, and nothing is sent', async () => {
    const handled: string[] = [];
    const { url } = await startPageFeed(redis, {
      http: { tokens: TOKENS },
      subscriptions: [handlerOf('orders', () => null, handled)],
    });
    await appendEvents(redis, [personEvent('p1', 1)]);
    await eventually(() => expect(handled).toEqual(['p1']));
    const { page } = await browse(`${url}/#/subscriptions?name=orders`);
    await page.getByLabel('Token').fill(TOKENS.read);
    await page.keyboard.press('Enter');
    await page.getByRole('button', { name: 'Try' }).press('Enter');
    await page.getByText('Nothing is sent.').waitFor();
    await page.keyboard.press('Enter');
    await page.getByText('It would have got 1 of 1 event.').waitFor();
    expect(await page.getByRole('button', { name: 'Pause' }).count()).toBe(0);
    await page.keyboard.press('Escape');
    await eventually(async () => expect(await page.locator('dialog').count()).toBe(0));
    expect(handled).toEqual(['p1']);
  });
});
