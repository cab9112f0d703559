import { describe, expect, it } from 'vitest';
import { CHROMIUM, expectSound, FITS, NARROW, useBrowser, WIDE } from '../../../support/browser.js';
import { eventually } from '../../../support/eventually.js';
import { rowsOfGate } from '../../../support/night.js';
import { handlerOf, personEvent, startPageFeed, type PageFeedOptions } from '../../../support/page-feed.js';
import { appendEvents } from '../../../support/events.js';
import { startOtherCrm } from '../../../support/other-crm.js';
import { useRedis } from '../../../support/redis.js';

describe.skipIf(CHROMIUM === null)('status page: actions', () => {
  const redis = useRedis();
  const browse = useBrowser();
  const open = (options?: PageFeedOptions) => startPageFeed(redis, options);
  const eventOf = (record: string) =>
    personEvent(record, 1, { fields: { 이름: record }, changes: [{ field: '이름', before: 'old', after: record }] });

  it.each(
    rowsOfGate(1, [
      {
        locale: 'en-GB',
        viewport: WIDE,
        skip: 'Drop what waits',
        drops: '2 events that wait are dropped',
        done: 'Dropped 2 events.',
        replay: 'Replay',
        sends: '2 events will be sent again',
        close: 'Close',
        resume: 'Resume',
        test: 'Test message',
        send: 'Send',
        accepted: 'accepted',
      },
      {
        locale: 'ko-KR',
        viewport: NARROW,
        skip: '쌓인 알림 버리기',
        drops: '기다리는 이벤트 2건을 버립니다',
        done: '2건을 버렸습니다.',
        replay: '다시 보내기',
        sends: '이벤트 2건을 다시 보냅니다',
        close: '닫기',
        resume: '다시 시작',
        test: '시험 메시지',
        send: '보내기',
        accepted: '받음',
      },
    ] as const),
  )(
    'page ($locale): an operator is told how many events are dropped or sent again before it happens',
    async ({ locale, viewport, skip, drops, done, replay, sends, close, resume, test, send, accepted }) => {
      const handled: string[] = [];
      const { url, feed } = await open({ subscriptions: [handlerOf('orders', () => null, handled)] });
      await feed.pause('orders', 'moved');
      await appendEvents(redis, [eventOf('p1'), eventOf('p2')]);
      const { page, complaints } = await browse(`${url}/#/subscriptions?name=orders`, { locale, viewport });
      const dialog = page.getByRole('dialog');
      await page.getByRole('button', { name: skip }).press('Enter');
      await dialog.getByText(drops).waitFor();
      await expectSound(page);
      await dialog.getByRole('button', { name: skip }).click();
      await dialog.getByText(done).waitFor();
      await dialog.getByRole('button', { name: close }).press('Enter');
      await page.getByRole('button', { name: resume }).click();
      await dialog.getByRole('button', { name: resume }).click();
      await page.getByRole('button', { name: replay, exact: true }).click();
      await dialog.getByText(sends).waitFor();
      expect(handled).toEqual([]);
      await expectSound(page);
      await dialog.getByRole('button', { name: replay }).click();
      await eventually(() => expect(handled).toEqual(['p1', 'p2']));
      await dialog.getByRole('button', { name: close }).click();
      await page.getByRole('button', { name: test }).click();
      await dialog.getByRole('combobox').selectOption('crm.todo.completed');
      await dialog.getByRole('button', { name: send }).click();
      await dialog.getByText(accepted, { exact: true }).waitFor();
      expect(handled).toHaveLength(3);
      expect(complaints).toEqual([]);
    },
  );

  it('page: while a configuration is applied it says so, and what is done is done once that runs', async () => {
    const { url, feed } = await open({ subscriptions: [handlerOf('orders')] });
    const { page } = await browse(`${url}/#/subscriptions?name=orders`, { locale: 'ko-KR', viewport: WIDE });
    const isPaused = async (): Promise<boolean> => (await feed.status()).subscriptions[0]?.paused !== null;
    await page.getByRole('button', { name: '일시 중지' }).click();
    const restarting = { status: 503, headers: { 'x-changefeed-restarting': '1' }, json: { error: { status: 503 } } };
    await page.route('**/api/**', (route) => route.fulfill(restarting));
    const dialog = page.getByRole('dialog');
    await dialog.getByRole('button', { name: '일시 중지' }).click();
    await dialog.getByText('설정을 적용하는 중입니다').waitFor();
    await expectSound(page);
    expect(await isPaused()).toBe(false);
    await page.unrouteAll();
    await dialog.waitFor({ state: 'hidden' });
    expect(await isPaused()).toBe(true);
    await expect.poll(() => page.getByText('설정을 적용하는 중입니다').count()).toBe(0);
  });

  it.each(
    rowsOfGate(1, [
      {
        locale: 'en-GB',
        viewport: WIDE,
        missing: /(\d+) of \1 records are missing/,
        discard: 'Leave them',
        example: 'For example',
      },
      {
        locale: 'ko-KR',
        viewport: NARROW,
        missing: /(\d+)건.*\1건/,
        discard: '남겨 두기',
        example: '예:',
      },
    ] as const),
  )(
    'page ($locale): an operator sees the numbers and examples of what is held, and decides it',
    async ({ locale, viewport, missing, discard, example }) => {
      const { url, crm, feed } = await open({ roles: ['poll', 'dispatch', 'handle'] });
      crm.lists.people.splice(0, crm.lists.people.length);
      await eventually(async () => expect(await feed.lists.allHeld()).not.toEqual([]), { timeoutMs: 120_000 });
      const { page } = await browse(`${url}/#/problems`, { locale, viewport });
      const problem = page.locator('[data-kind="removals.held"]');
      await problem.getByText(missing).first().waitFor();
      await problem.getByText(example).waitFor();
      expect(await page.evaluate(FITS)).toBe(true);
      await problem.getByRole('button', { name: discard }).click();
      await page.getByRole('dialog').getByText(/17/).waitFor();
      await page.getByRole('dialog').getByRole('button', { name: discard }).click();
      await eventually(async () => expect(await feed.lists.allHeld()).toEqual([]), { timeoutMs: 120_000 });
    },
  );

  it('page: each problem of a list has its own examples and decision, with how many and who gets them', async () => {
    const { url } = await open({ subscriptions: [handlerOf('orders')] });
    const { page } = await browse(`${url}/#/problems`);
    const problem = { severity: 'warning', workspace: 'acme', subject: 'list:people', message: '', since: null };
    const held = { workspace: 'acme', list: 'people', why: 'too many', since: null, at: null, of: 50 };
    await page.route('**/api/status', async (route) => {
      const status = (await (await route.fetch()).json()) as object;
      const problems = ['removals.held', 'creations.held'].map((kind) => ({ ...problem, kind }));
      await route.fulfill({ json: { ...status, problems } });
    });
    await page.route('**/api/held', async (route) => {
      const removals = { ...held, what: 'removals', count: 7, examples: [{ id: 'p1', title: '김하나' }] };
      await route.fulfill({ json: { held: [removals, { ...held, what: 'creations', count: 9, examples: [] }] } });
    });
    await page.reload();
    const shown = (kind: string) => page.locator(`[data-kind="${kind}"]`);
    await shown('removals.held').getByText('For example: 김하나').waitFor();
    expect(await page.getByText('For example').count()).toBe(1);
    await shown('removals.held').getByRole('button', { name: 'Leave them' }).waitFor();
    const decided = page.waitForRequest('**/accept');
    await page.route('**/accept', (route) => route.fulfill({ json: { count: 9 } }));
    await shown('creations.held').getByRole('button', { name: 'Report and store' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByText('9 of 50 records of "people" are reported as created.').waitFor();
    await dialog.getByText('It goes to orders: up to 9 events for each.').waitFor();
    expect(await dialog.getByText('reported as deleted').count()).toBe(0);
    await dialog.getByRole('button', { name: 'Report and store' }).click();
    expect((await decided).postDataJSON()).toEqual({ what: 'creations' });
  });

  it('page: an operator sees what a removed subscription has left behind, and forgets it', async () => {
    const former = await open({ subscriptions: [handlerOf('former', () => 'the receiver is broken')] });
    await appendEvents(redis, [eventOf('p1')]);
    await eventually(async () => expect(await former.feed.deadLetters.count()).toBe(1));
    await former.feed.stop();
    const { url, feed } = await open({ subscriptions: [handlerOf('other')] });
    const { page } = await browse(`${url}/#/problems`);
    await eventually(async () => {
      // No process has had it in its configuration for long; a process that has just begun says otherwise.
      await redis.redis.hset(redis.keys.readers('acme'), 'former', '1');
      expect(await page.getByText('former: 0 waiting, 1 dead').count()).toBe(1);
    });
    await page.getByRole('button', { name: 'Forget: former' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Forget' }).click();
    await eventually(async () => {
      const stored = await feed.storedSubscriptions();
      expect(stored.find(({ subscription }) => subscription === 'former')?.dead ?? 0).toBe(0);
    });
  });

  it.each(
    rowsOfGate(1, [
      {
        locale: 'en-GB',
        viewport: WIDE,
        erase: 'Erase the record',
        close: 'Close',
        before: 'its 2 events in the log',
        others: '1 other record contains its id, name, e-mail address or phone number and is not erased',
        done: 'Erased, with 2 events in the log.',
      },
      {
        locale: 'ko-KR',
        viewport: NARROW,
        erase: '레코드 지우기',
        close: '닫기',
        before: '로그의 이벤트 2건',
        others: '다른 레코드 1건은 지우지 않습니다',
        done: '레코드와 로그의 이벤트 2건을 지웠습니다.',
      },
    ] as const),
  )('page ($locale): an operator erases the record of an event', async (given) => {
    const { locale, viewport, erase, before, others, done, close } = given;
    const { url } = await open({ subscriptions: [handlerOf('orders')] });
    const [one, other] = ['0198f0aa-1c00-7a10-8f01-000000000001', '0198f0aa-1c00-7a10-8f01-000000000002'];
    const named = { ...eventOf(other), data: { ...eventOf(other).data, after: { id: other, 소개: one } } };
    await appendEvents(redis, [eventOf(one), { ...eventOf(one), id: 'evt_2' }, named]);
    const { page, complaints } = await browse(`${url}/#/changes?record=${one}`, { locale, viewport });
    await page.getByRole('button', { expanded: false }).and(page.locator('.opener')).first().click();
    await page.getByRole('button', { name: erase }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByText(before).waitFor();
    await dialog.getByText(others).waitFor();
    await expectSound(page);
    await dialog.getByRole('button', { name: erase }).click();
    await dialog.locator('.notice').getByText(done).waitFor();
    // It is filed: what, when, and the mark by which decisions name it.
    expect(await dialog.locator('pre').innerText()).toMatch(new RegExp(`${one}.*\\n.*\\n.*[\\w-]{22}`));
    await dialog.getByRole('button', { name: close }).click();
    await eventually(async () => expect(await page.locator('.event').count()).toBe(0));
    expect(complaints).toEqual([]);
  });

  it.each(
    rowsOfGate(1, [
      {
        locale: 'en-GB',
        viewport: WIDE,
        verify: 'Verify',
        wrong: '1 record is wrong',
        example: 'missing: the feed has',
      },
      {
        locale: 'ko-KR',
        viewport: NARROW,
        verify: '비교',
        wrong: '레코드 1건이 CRM과 다릅니다',
        example: '없음: 최신',
      },
    ] as const),
  )(
    'page ($locale): a copy that can be read is verified by a button, and what was found stays with its age',
    async ({ locale, viewport, verify, wrong, example }) => {
      const crm = await startOtherCrm();
      const ids = crm.lists.people.map(({ id }) => id);
      const copy = {
        rows: async function* ({ list }: { list: string }) {
          const kept = list === 'people' ? ids.slice(1) : [];
          yield await Promise.resolve(kept.map((id) => ({ id, sequence: 0, deleted: false })));
        },
        contents: () => Promise.resolve(new Map<string, object>()),
      };
      const mirror = { ...handlerOf('mirror'), on: ['crm.person.*'], copy };
      const { url, feed } = await open({ crm, subscriptions: [mirror], roles: ['poll', 'dispatch', 'handle'] });
      const { page, complaints } = await browse(`${url}/#/subscriptions?name=mirror`, { locale, viewport });
      const dialog = page.getByRole('dialog');
      await page.getByRole('button', { name: verify, exact: true }).click();
      await dialog.getByRole('button', { name: verify, exact: true }).click();
      await dialog.getByText(example).waitFor();
      await expectSound(page);
      await page.keyboard.press('Escape');
      await page.getByText(wrong).first().waitFor();
      await expectSound(page);
      expect((await feed.status()).subscriptions[0]?.verified).toMatchObject({ wrong: 1, missing: 1 });
      expect(complaints).toEqual([]);
    },
  );
});
