import { expect, it } from 'vitest';
import type { FetchOptions, Page } from '../../../../src/feed/api/read-api.js';
import { silentLog } from '../../../../src/kit/log.js';
import type { ListDeps } from '../../../../src/feed/list/list.js';
import type { ShortcutPage } from '../../../../src/feed/list/shortcuts/plan.js';
import { askForShortcut } from '../../../../src/feed/list/pages.js';

const page: Page = { list: 'people', records: [], nextCursor: null, bytes: 0 };
const shortcut: ShortcutPage = { kind: 'aimed', page: 4, cursor: 'c4', ids: ['p1'], value: () => 1 };

function asking(signal = new AbortController().signal) {
  let nowMs = 1_000;
  const sleeping: { untilMs: number; wake: () => void }[] = [];
  const asked: { options: FetchOptions; answer: (one: Page) => void }[] = [];
  const clock: ListDeps['clock'] = {
    now: () => nowMs,
    monotonic: () => nowMs,
    sleep: (ms, by) =>
      new Promise((wake, reject) => {
        sleeping.push({ untilMs: nowMs + ms, wake });
        by?.addEventListener('abort', () => {
          reject(by.reason as Error);
        });
      }),
  };
  const fetchPage = (_: string, options: FetchOptions): Promise<Page> =>
    new Promise((answer, reject) => {
      asked.push({ options, answer });
      options.signal?.addEventListener('abort', () => {
        reject(options.signal?.reason as Error);
      });
    });
  const deps = { api: { fetchPage }, clock, log: silentLog, workspace: 'acme' } as unknown as ListDeps;
  const one = askForShortcut({ name: 'people', deps }, shortcut, signal);
  const pass = (ms: number): void => {
    nowMs += ms;
    for (const { untilMs, wake } of sleeping) if (untilMs <= nowMs) wake();
  };
  return { one, pass, grant: () => asked[0]?.options.onGrant?.(), answer: () => asked[0]?.answer(page) };
}

it('shortcut: what the budget does not grant within a second is given back, as another page may be worth more by then', async () => {
  const { one, pass } = asking();
  pass(1_000);
  expect(await one).toMatchObject({ page: 'not sent' });
});

it('shortcut: a page that was granted is waited for, and is as old as its grant', async () => {
  const { one, pass, grant, answer } = asking();
  pass(900);
  grant();
  pass(60_000);
  answer();
  expect(await one).toMatchObject({ page, askedAtMs: 1_900 });
});

it('shortcut: a page that is no longer wanted is none that the budget refused', async () => {
  const stop = new AbortController();
  const { one } = asking(stop.signal);
  stop.abort(new Error('stopped'));
  expect(await one).toMatchObject({ page: null });
});
