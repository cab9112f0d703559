/** Headless Chromium for the tests of the status page: one browser for a file, a fresh profile for each test. */
import { execFileSync } from 'node:child_process';
import { createRequire } from 'node:module';
import { readFileSync } from 'node:fs';
import { chromium, type Browser, type Page } from 'playwright-core';
import { afterAll, beforeAll, expect, onTestFinished } from 'vitest';
import { buildPage } from '../../.ci/build-page.mjs';
import { OPERATE } from './page-feed.js';

/** Nothing that reaches for the network or for a screen. */
const ARGUMENTS = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];

export const WIDE = { width: 1280, height: 860 };
export const NARROW = { width: 390, height: 844 };

export const CHROMIUM = findChromium();

export interface PageOptions {
  viewport?: { width: number; height: number };
  locale?: 'en-GB' | 'ko-KR';
  colorScheme?: 'light' | 'dark';
}

export interface OpenedPage {
  page: Page;
  /** What the browser complained about: errors of scripts, and what the content security policy has forbidden. */
  complaints: string[];
}

/** Call it once in a `describe`: the page is built before its tests. */
export function useBrowser(): (url: string, options?: PageOptions) => Promise<OpenedPage> {
  let started: Promise<Browser> | undefined;
  beforeAll(() => buildPage());
  afterAll(async () => (await started)?.close());
  return async (url, { viewport = WIDE, locale = 'en-GB', colorScheme = 'light' } = {}) => {
    started ??= chromium.launch({ executablePath: CHROMIUM ?? '', args: ARGUMENTS });
    const context = await (await started).newContext({ viewport, locale, colorScheme });
    onTestFinished(() => context.close());
    // As long as other waits: how long a page takes is a matter of the machine.
    context.setDefaultTimeout(80_000);
    const page = await context.newPage();
    const complaints: string[] = [];
    page.on('pageerror', (error) => void complaints.push(String(error)));
    page.on('console', (message) => {
      if (message.type() === 'error') complaints.push(message.text());
    });
    // Where the page has another token, nobody is signed in.
    await context.request.post(new URL('/api/session', url).href, {
      headers: { 'x-changefeed-action': '1' },
      data: { token: OPERATE },
    });
    // Most tests are about changes; the first section is the overview.
    const { pathname, hash } = new URL(url);
    await page.goto(pathname === '/' && hash === '' ? `${url}/#/changes` : url);
    return { page, complaints };
  };
}

interface AxeResult {
  violations: { id: string; impact: string | null; nodes: { html: string; failureSummary?: string }[] }[];
}

/** axe finds nothing serious, and nothing is wider than the screen. */
export async function expectSound(page: Page): Promise<void> {
  expect(await seriousFindings(page)).toEqual([]);
  expect(await page.evaluate(FITS)).toBe(true);
}

/** Evaluated in the page. */
export const FITS = 'document.documentElement.scrollWidth <= innerWidth';

export async function seriousFindings(page: Page): Promise<string[]> {
  const source = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
  // Evaluated by the debugger: the content security policy of the page does not apply to it.
  await page.evaluate(source);
  const { violations } = await page.evaluate<AxeResult>('axe.run()');
  return violations
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html.slice(0, 200)).join(' ')}`);
}

function findChromium(): string | null {
  for (const name of [process.env['CHROMIUM'] ?? '', 'chromium', 'chromium-browser', 'google-chrome']) {
    if (name === '') continue;
    try {
      return execFileSync('sh', ['-c', 'command -v "$0"', name], { encoding: 'utf8' }).trim();
    } catch {
      continue;
    }
  }
  return null;
}
