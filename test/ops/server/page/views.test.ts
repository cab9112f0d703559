import { describe, expect, it } from 'vitest';
import { PROBLEM_KINDS } from '../../../../src/events/kinds.js';
import type { ChangeEvent } from '../../../../src/events/types.js';
import { CHROMIUM, FITS, NARROW, useBrowser } from '../../../support/browser.js';
import { eventually } from '../../../support/eventually.js';
import { handlerOf, personEvent, startPageFeed, type PageFeedOptions } from '../../../support/page-feed.js';
import { appendEvents } from '../../../support/events.js';
import { useRedis } from '../../../support/redis.js';

const FAILURE = { code: 'CF_UNAVAILABLE', message: 'the API gave no answer', since: '2026-01-01T00:00:00.000Z' };

describe.skipIf(CHROMIUM === null)('status page: views', () => {
  const redis = useRedis();
  const browse = useBrowser();
  const open = (options?: PageFeedOptions) => startPageFeed(redis, options);
  const renamed = (record: string, field = '이름') =>
    personEvent(record, 1, { fields: { 이름: record }, changes: [{ field, before: 'old', after: record }] });

  it.each(['en-GB', 'ko-KR'] as const)(
    'page (%s): on a phone, every section and its number of open matters is on the screen, and words stay whole',
    async (locale) => {
      const { url } = await open({ subscriptions: [handlerOf('orders', () => 'the receiver is broken')] });
      await appendEvents(redis, [renamed('p1')]);
      const { page } = await browse(`${url}/#/problems`, { viewport: NARROW, locale });
      await page.locator('nav .badge').first().waitFor();
      const edges = await page
        .locator('nav a, nav .badge')
        .evaluateAll((all) => all.map((one) => (one as unknown as Boxed).getBoundingClientRect()));
      expect(edges.length).toBeGreaterThan(7);
      for (const { left, right } of edges) expect([left >= 0, right <= NARROW.width]).toEqual([true, true]);
      expect(await page.evaluate('getComputedStyle(document.body).wordBreak')).toBe('keep-all');
    },
  );

  it('page: in Korean, problems, errors, and roles have Korean texts', async () => {
    const { url } = await open({ roles: ['poll', 'dispatch', 'handle'] });
    const { page } = await browse(`${url}/#/problems`, { locale: 'ko-KR' });
    await page.route('**/api/status', async (route) => {
      const status = (await (await route.fetch()).json()) as StatusAnswer;
      const message = 'An English sentence with a name.';
      const known = { severity: 'error', subject: 'list:people', message, since: null, facts: { list: 'people' } };
      status.problems = PROBLEM_KINDS.map((kind) => ({ kind, ...known }));
      for (const workspace of status.workspaces) {
        for (const list of workspace.lists) list.failure = { ...FAILURE, at: FAILURE.since };
      }
      await route.fulfill({ json: status });
    });
    await page.reload();
    await eventually(async () => expect(await page.locator('main .letter').count()).toBe(PROBLEM_KINDS.length));
    // A process is shown when it has reported.
    await page.getByText('처리, 분배, 수집').waitFor();
    const problems = await page.locator('main').innerText();
    const english = /[a-z]{2,} [a-z]{2,}/i;
    // Kinds, codes and commands are names, not sentences.
    const names = /changefeed( +[\w-]+)+|CF_\w+|CONFIG SET/g;
    expect(problems.replaceAll(names, '').match(english)).toBeNull();
  });

  it.each([
    { locale: 'en-GB', viewport: { width: 1280, height: 800 }, shown: 12, everything: 'Everything', yes: 'yes' },
    { locale: 'ko-KR', viewport: NARROW, shown: 8, everything: '시스템이 바꾼 것도', yes: '예' },
  ] as const)(
    'page ($locale): $shown edits fit on a screen, each one row with what came with it, which opens by click and key',
    async ({ locale, viewport, shown, everything, yes }) => {
      const { url } = await open({ links: { person: 'https://crm.example/people/{id}' } });
      await appendEvents(redis, [
        counterOf('only the system'),
        ...Array.from({ length: 14 }, (_, at) => edited(`p${at}`)).flat(),
      ]);
      const { page } = await browse(url, { locale, viewport });
      const rows = page.locator('.event');
      await eventually(async () => expect(await rows.count()).toBe(14));
      const bottom = (await rows.nth(shown - 1).boundingBox()) ?? { y: 0, height: 0 };
      expect(bottom.y + bottom.height).toBeLessThanOrEqual(viewport.height);
      expect(await rows.locator('.chip [aria-hidden]').allTextContents()).toEqual(Array(14).fill('+2'));
      expect(await rows.nth(0).locator('.to-crm').getAttribute('href')).toBe('https://crm.example/people/p13');
      await rows.nth(0).locator('.glance').click();
      await rows.nth(0).locator('.folded li').nth(1).waitFor();
      await rows.nth(1).getByRole('button').press('Enter');
      await rows.nth(1).locator('.details').waitFor();
      // Who changed it stands in the row of the history only.
      const said = await page.locator('main').innerText();
      expect(said).toMatch(locale === 'ko-KR' ? /변경한 사람: 김수정/ : /by 김수정/);
      expect(said).toContain(yes);
      expect(said).not.toMatch(/\d{4}-\d\d-\d\dT|true|nothing: /);
      expect(await page.evaluate(FITS)).toBe(true);
      if (viewport === NARROW) await page.getByRole('button', { name: '필터' }).click();
      await page.getByLabel(locale === 'ko-KR' ? '표시' : 'Show').selectOption(everything);
      await eventually(async () => expect(await rows.count()).toBe(15));
    },
  );

  it('page: the todos name one time zone for their age and their days', async () => {
    const { url } = await open({ roles: ['poll', 'dispatch', 'handle'] });
    const { page } = await browse(`${url}/#/todos`);
    await page.getByText(/State of .* \(Asia\/Seoul\)/).waitFor();
    const shown = (await page.getByText(/State of/).textContent()) ?? '';
    const inSeoul = new Intl.DateTimeFormat('en-GB', { timeZone: 'Asia/Seoul', day: 'numeric', month: 'short' });
    expect(shown).toContain(inSeoul.format(new Date()));
  });

  it('page: an axis of time has each label once', async () => {
    const { url } = await open();
    const { page } = await browse(`${url}/#/lists`);
    const started = Date.now() - 50_000;
    await page.route('**/api/history', (route) =>
      route.fulfill({
        json: {
          everyMs: 5_000,
          samples: Array.from({ length: 11 }, (_, index) => ({
            at: new Date(started + index * 5_000).toISOString(),
            workspaces: [{ name: 'acme', requests: 10, share: 0.1, allowed: 80, pausedMs: 0 }],
            subscriptions: [],
          })),
        },
      }),
    );
    await page.addInitScript(`
      window.drawn = [];
      const fillText = CanvasRenderingContext2D.prototype.fillText;
      CanvasRenderingContext2D.prototype.fillText = function (text, ...rest) {
        if (/^\\d\\d:\\d\\d$/.test(text)) window.drawn.push(text);
        return fillText.call(this, text, ...rest);
      };
      const clearRect = CanvasRenderingContext2D.prototype.clearRect;
      CanvasRenderingContext2D.prototype.clearRect = function (...given) {
        window.drawn = [];
        return clearRect.apply(this, given);
      };`);
    await page.reload();
    await page.locator('.plot canvas').waitFor();
    await eventually(async () => expect(await page.evaluate<string[]>('window.drawn')).not.toEqual([]));
    const labels = await page.evaluate<string[]>('window.drawn');
    expect(labels).toEqual([...new Set(labels)]);
  });

  it('page: a search that has not read the whole log says so, and goes on', async () => {
    const { url } = await open();
    const others = Array.from({ length: 4_500 }, (_, index) => renamed(`p${index}`));
    await appendEvents(redis, [renamed('first', '희귀'), ...others]);
    const { page } = await browse(`${url}/#/changes?field=${encodeURIComponent('희귀')}`);
    await page.getByText(/Nothing among the newest 4,000 events, back to/).waitFor();
    expect(await page.getByText('No event in the log matches the filters.').count()).toBe(0);
    await page.getByRole('button', { name: 'Search further back' }).click();
    await page.locator('.event .title').filter({ hasText: 'first' }).waitFor();
    await page.goto(`${url}/#/changes?field=none`);
    await page.getByRole('button', { name: 'Search further back' }).click();
    await page.getByText('No event in the log matches the filters.').waitFor();
  });

  it('page: the date of an overdue todo is called due', async () => {
    const { url } = await open();
    const plain = renamed('t1');
    const due = '2026-03-19T08:39:00.000Z';
    await appendEvents(redis, [
      { ...plain, type: 'crm.todo.overdue', data: { ...plain.data, changes: [], detectedBy: 'clock', due } },
    ]);
    const { page } = await browse(url);
    await page
      .locator('.event')
      .getByText(/^Due: /)
      .waitFor();
  });

  it('page: dead letters are grouped by reason, and all are retried or dropped without choosing a subscription', async () => {
    let isBroken = true;
    const reasonOf = (subject: string) =>
      isBroken ? (subject.startsWith('a') ? 'a deadlock' : 'a wrong address') : null;
    const { url, feed } = await open({
      subscriptions: [handlerOf('one', reasonOf), handlerOf('two', reasonOf)],
    });
    await appendEvents(
      redis,
      ['a1', 'a2', 'a3', 'b1'].map((record) => renamed(record)),
    );
    await eventually(async () => expect(await feed.deadLetters.count()).toBe(8));
    const { page } = await browse(`${url}/#/dead`);
    const group = (subscription: string, reason: string) =>
      page.getByRole('region', { name: `${subscription}: ${reason}` });
    await eventually(async () => expect(await page.getByRole('region').count()).toBe(4));
    isBroken = false;
    await group('two', 'a deadlock').getByRole('button', { name: 'Retry all 3' }).click();
    await page.getByText('Retrying 3.').waitFor();
    await eventually(async () => expect(await feed.deadLetters.count()).toBe(5));
    await page.getByLabel('Reason').selectOption('a wrong address');
    await eventually(async () => expect(await page.getByRole('region').count()).toBe(2));
    await page.getByRole('button', { name: 'Drop all 2' }).click();
    await page.getByRole('button', { name: 'Yes, drop' }).click();
    await eventually(async () => expect(await feed.deadLetters.count()).toBe(3));
    await page.getByLabel('Reason').selectOption('');
    await page.getByRole('button', { name: 'Retry all 3' }).click();
    await page.getByText('No dead letters.').waitFor();
    await eventually(async () => expect(await feed.deadLetters.count()).toBe(0));
  });

  it('page: where only the newest dead letters are loaded, what is done with all of a reason says "200+"', async () => {
    const { url, feed } = await open({ subscriptions: [handlerOf('one', () => 'a deadlock')] });
    const change = { field: '내용', before: 'short', after: '최근 작성된 노트의 내용 '.repeat(40) };
    const events = Array.from({ length: 201 }, (_, index) => personEvent(`p${index}`, 1, { changes: [change] }));
    await appendEvents(redis, events);
    await eventually(async () => expect(await feed.deadLetters.count()).toBe(201));
    const { page } = await browse(`${url}/#/dead`);
    await page.getByRole('button', { name: 'Drop all 201' }).waitFor();
    await page.locator('summary').first().click();
    await page.locator('.letter').first().waitFor();
    expect(await page.evaluate(FITS)).toBe(true);
    await page.getByLabel('Reason').selectOption('a deadlock');
    await page.getByRole('button', { name: 'Drop all 200+' }).click();
    await page.getByRole('button', { name: 'Yes, drop' }).click();
    await page.getByText('Dropped 201.').waitFor();
  });
});

const IMAGE = { 이름: '오주하' };

/** The event of a record, the row of its history, and the counters that the system has changed. */
function edited(record: string): ChangeEvent[] {
  const at = '2026-03-19T08:39:00.000Z';
  const edit = personEvent(record, 1, {
    fields: IMAGE,
    changes: [
      { field: '등급', before: false, after: true },
      { field: '계약일', before: null, after: at },
    ],
  });
  const row = {
    peopleId: record,
    fieldName: '등급',
    fieldValue: true,
    source: { type: 'user', id: 'u1', name: '김수정' },
  };
  const history = { ...edit, type: 'crm.person_history.created', subject: `row of ${record}`, id: `row of ${record}` };
  const actor = { type: 'user', id: 'u1', name: '김수정' };
  return [
    { ...history, data: { ...edit.data, changes: [], actor, before: null, after: { id: history.id, ...row } } },
    edit,
    counterOf(record),
  ];
}

function counterOf(record: string): ChangeEvent {
  const event = personEvent(record, 2, { fields: IMAGE, changes: [{ field: '미완료 TODO', before: 1, after: 2 }] });
  return { ...event, data: { ...event.data, class: 'refreshed' } };
}

interface Boxed {
  getBoundingClientRect(): { left: number; right: number };
}

interface StatusAnswer {
  problems: object[];
  workspaces: { lists: { failure: object | null }[] }[];
}
