import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { CHROMIUM, FITS, NARROW, seriousFindings, useBrowser, WIDE } from '../../../support/browser.js';
import { eventually } from '../../../support/eventually.js';
import { handlerOf, type PageFeedOptions, personEvent, startPageFeed, TOKENS } from '../../../support/page-feed.js';
import { appendEvents } from '../../../support/events.js';
import { useRedis } from '../../../support/redis.js';

const BROKEN = 'the receiver is broken';
const SECTIONS = [
  'overview',
  'changes',
  'records',
  'audit',
  'lists',
  'subscriptions',
  'rules',
  'dead',
  'todos',
  'schema',
  'problems',
];
const WIDTHS = [
  {
    name: 'wide, English, light',
    viewport: WIDE,
    locale: 'en-GB',
    colorScheme: 'light',
    heading: 'What changed just now',
  },
  { name: 'narrow, Korean, dark', viewport: NARROW, locale: 'ko-KR', colorScheme: 'dark', heading: '방금 변경된 내용' },
] as const;

/** Sentences of another language on a Korean page. What a handler said itself, names of types, commands and addresses are no sentences. */
async function englishIn(page: Page): Promise<string[]> {
  const text = await page.locator('main').innerText();
  const own = text.replaceAll(BROKEN, '').replaceAll(/changefeed( +[\w-]+)+/g, '');
  return own.match(/[a-z]{2,} [a-z]{2,}[^\n]*/gi) ?? [];
}

describe.skipIf(CHROMIUM === null)('status page in a browser', () => {
  const redis = useRedis();
  const browse = useBrowser();
  const open = (options?: PageFeedOptions) => startPageFeed(redis, options);
  const renamed = (record: string, name: string, person = '박담당') =>
    personEvent(record, 1, {
      fields: { 이름: name, 담당자: { id: `id of ${person}`, name: person } },
      changes: [{ field: '이름', before: '예전 이름', after: name }],
    });

  it.each(WIDTHS)(
    'page ($name): a colleague sees changes as they come, and finds those of a person',
    async ({ viewport, locale, colorScheme, heading }) => {
      const { url } = await open();
      await appendEvents(redis, [renamed('p1', '김하나', '박담당'), renamed('p2', '이둘', '최담당')]);
      const { page, complaints } = await browse(url, { viewport, locale, colorScheme });
      await page.getByRole('heading', { name: heading }).waitFor();
      await page.locator('.event').nth(1).waitFor();
      await appendEvents(redis, [renamed('p3', '박셋', '최담당')]);
      await page.locator('.event .title').filter({ hasText: '박셋' }).waitFor();
      expect(await page.locator('.event .title').allTextContents()).toEqual(['박셋', '이둘', '김하나']);
      if (viewport === NARROW) await page.getByRole('button', { name: '필터' }).click();
      await page
        .getByRole('combobox', { name: locale === 'ko-KR' ? '담당자' : 'Person in charge', exact: true })
        .fill('박담당');
      await eventually(async () => expect(await page.locator('.event .title').allTextContents()).toEqual(['김하나']));
      expect(await page.locator('.glance').textContent()).toMatch(/이름.*예전 이름.*김하나/);
      expect(page.url()).toContain('person=');
      expect(complaints).toEqual([]);
    },
  );

  it('bull-board: shows the queues without scripts in its page, and asks no other server', async () => {
    const { url } = await open({ subscriptions: [handlerOf('orders')] });
    const { page, complaints } = await browse(`${url}/queues/`);
    await page.getByText('orders').first().waitFor();
    expect(complaints.filter((one) => !one.includes('https://fonts.'))).toEqual([]);
    const policy = (await page.request.get(`${url}/queues/`)).headers()['content-security-policy'];
    expect(policy).toContain("script-src 'self';");
    expect(policy).not.toContain('https:');
  });

  it('page: an operator retries one dead letter and drops another, which asks first', async () => {
    let isBroken = true;
    const handled: string[] = [];
    const { url } = await open({ subscriptions: [handlerOf('orders', () => (isBroken ? BROKEN : null), handled)] });
    await appendEvents(redis, [renamed('p1', '김하나'), renamed('p2', '이둘')]);
    const { page } = await browse(`${url}/#/dead`);
    const letter = (name: string) => page.locator('.letter').filter({ hasText: name });
    await letter('김하나').waitFor();
    await letter('이둘').waitFor();
    isBroken = false;
    await letter('김하나').getByRole('button', { name: 'Retry' }).click();
    await eventually(() => expect(handled).toEqual(['p1']));
    await letter('김하나').waitFor({ state: 'detached' });
    await letter('이둘').getByRole('button', { name: 'Drop' }).click();
    await letter('이둘').getByRole('button', { name: 'Yes, drop' }).click();
    await page.getByText('No dead letters.').waitFor();
    expect(handled).toEqual(['p1']);
  });

  it('page: an engineer reads the freshness of each list, and the fields of one', async () => {
    const { url } = await open({ roles: ['poll'] });
    const { page } = await browse(`${url}/#/lists`);
    // On a busy machine it may be minutes.
    await page
      .getByRole('row', { name: /People/ })
      .getByText(/\d (ms|s|min) old/)
      .waitFor();
    expect(await page.getByRole('row').count()).toBe(7);
    await page.getByText(/of the budget of/).waitFor();
    await page.goto(`${url}/#/schema?list=people`);
    await page.getByRole('rowheader', { name: '이름' }).waitFor();
  });

  it('page: one failed request leaves a section empty for seconds, not until its next turn a minute later', async () => {
    const { url } = await open();
    const { page } = await browse(`${url}/#/lists`);
    await page.route('**/api/about', (route) => route.abort(), { times: 1 });
    await page.reload();
    await page.getByRole('row', { name: /People/ }).waitFor({ timeout: 30_000 });
  });

  it('page: a person on call sees what is wrong first, in Korean', async () => {
    const { url, feed } = await open({ subscriptions: [handlerOf('orders')] });
    await feed.pause('orders', 'the receiver is being moved');
    const { page } = await browse(`${url}/#/problems`, { viewport: NARROW, locale: 'ko-KR' });
    const first = page.getByRole('listitem').filter({ hasText: 'subscription.disabled' });
    await first.getByText('받는 곳이 일시 중지되었습니다').waitFor();
    await first.getByText('로그 원문').click();
    await first
      .getByText(/the receiver is being moved/)
      .last()
      .waitFor();
    await page.getByText('문제 1건').waitFor();
  });

  it('page: who only reads signs in with a token and finds no actions', async () => {
    const { url } = await open({ http: { tokens: TOKENS }, subscriptions: [handlerOf('orders')] });
    const { page } = await browse(`${url}/#/subscriptions`);
    await page.getByLabel('Token').waitFor();
    await page.keyboard.type('not the token');
    await page.keyboard.press('Enter');
    await page.getByRole('alert').waitFor();
    await page.getByLabel('Token').fill(TOKENS.read);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByText('Your role is read only').waitFor();
    await page.getByRole('heading', { name: /orders/ }).waitFor();
    expect(await page.getByRole('button', { name: /Pause/ }).count()).toBe(0);
  });

  it('page: the link of a start signs in, and leaves the token in no address', async () => {
    const { feed } = await open({ http: {}, subscriptions: [handlerOf('orders')] });
    const { page } = await browse(feed.pageLink ?? '');
    await page.getByText('Sign out').waitFor();
    expect(page.url()).not.toContain('#t=');
    await page.goBack();
    expect(page.url()).not.toContain('#t=');
  });

  it('page: nothing from the CRM runs, hides or breaks the page', async () => {
    const { url } = await open();
    const hostile = '<img src=x onerror="document.title=\'hacked\'"><script>document.title="hacked"</script>';
    const proto = JSON.parse('{"__proto__": "polluted", "constructor": "polluted"}') as object;
    await appendEvents(redis, [
      personEvent('p1', 1, {
        fields: { 이름: '<script>alert(1)</script>', ...proto },
        changes: [{ field: 'htmlBody', before: null, after: hostile }],
      }),
      personEvent('p2', 1, {
        fields: { 이름: 'javascript:alert(1)' },
        changes: [{ field: '__proto__', before: 'a', after: 'b' }],
      }),
      personEvent('p3', 1, {
        fields: { 이름: '\u001b[2J\u001b[31mred\u202egnp.exe' },
        changes: [{ field: '메모', before: '가'.repeat(2_500_000), after: `${'가'.repeat(2_500_000)}끝` }],
      }),
    ]);
    const { page, complaints } = await browse(url);
    await page.locator('.event').nth(2).waitFor();
    for (const one of await page.locator('.opener').all()) await one.click();
    // Each button goes when it is pressed.
    const whole = page.getByRole('button', { name: 'Whole event' });
    for (let count = 3; count > 0; count -= 1) {
      await whole.first().click();
      await eventually(async () => expect(await whole.count()).toBe(count - 1));
    }
    await eventually(async () => expect(await page.locator('pre').count()).toBe(3));
    expect(await page.locator('.event .title').allTextContents()).toEqual([
      '␛[2J␛[31mredgnp.exe',
      'javascript:alert(1)',
      '<script>alert(1)</script>',
    ]);
    expect(await page.locator('main img, main script, main iframe').count()).toBe(0);
    expect(await page.evaluate('({}).polluted')).toBeUndefined();
    expect(await page.title()).toBe('Changes · Changefeed');
    expect((await page.content()).length).toBeLessThan(500_000);
    expect(await page.evaluate(FITS)).toBe(true);
    expect(complaints).toEqual([]);
  });

  it.each(WIDTHS)(
    'page ($name): axe finds nothing serious, and nothing is wider than the screen',
    async ({ viewport, locale, colorScheme }) => {
      const { url, feed } = await open({
        roles: ['poll', 'dispatch', 'handle'],
        subscriptions: [handlerOf('orders', () => BROKEN)],
      });
      await appendEvents(redis, [renamed('p1', '김하나')]);
      await eventually(async () => expect(await feed.deadLetters.count()).toBe(1));
      const { page } = await browse(url, { viewport, locale, colorScheme });
      for (const section of SECTIONS) {
        await page.goto(`${url}/#/${section}`);
        await page.locator('main h1').waitFor();
        expect({ section, found: await seriousFindings(page) }).toEqual({ section, found: [] });
        if (locale === 'ko-KR') expect({ section, english: await englishIn(page) }).toEqual({ section, english: [] });
        expect({ section, fits: await page.evaluate(FITS) }).toEqual({
          section,
          fits: true,
        });
      }
    },
  );
});
