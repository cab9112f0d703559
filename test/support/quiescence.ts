/** When a service has read everything, and has nothing left to do. */
import { expect } from 'vitest';
import type { Changefeed } from '../../src/actions/feed.js';
import { eventually } from './eventually.js';

export async function sweptSince(feed: Changefeed, ms: number): Promise<void> {
  await eventually(
    async () => {
      const starts = (await feed.status()).workspaces.flatMap(({ lists }) =>
        lists.map(({ lastSweep }) =>
          lastSweep === null ? 0 : Date.parse(lastSweep.completedAt) - (lastSweep.tookMs ?? 0),
        ),
      );
      expect(Math.min(...starts)).toBeGreaterThan(ms);
    },
    { timeoutMs: 300_000, intervalMs: 200 },
  );
}

/** Lists in which records are missing, and not yet reported as deleted, with what waits for a person. */
export async function missingIn(feed: Changefeed): Promise<string[]> {
  const lists = (await feed.status()).workspaces.flatMap((one) => one.lists);
  const missing = lists.filter(({ lastSweep }) => lastSweep?.counts['missing'] !== 0);
  return missing.map(({ list, held }) => [list, ...held.map(({ what }) => `${what} held`)].join(', '));
}

export async function pendingOf(feed: Changefeed): Promise<number> {
  const { subscriptions } = await feed.status();
  return subscriptions.reduce((sum, { lagEvents, waiting, active }) => sum + (lagEvents ?? 1) + waiting + active, 0);
}
