/** Guarantee 2: a workspace in which nothing changes yields no events, however differently each answer represents it. */
import { createHash } from 'node:crypto';
import { expect, it, onTestFinished } from 'vitest';
import { createReadApi } from '../../../src/feed/api/client.js';
import { walkList } from '../../../src/feed/api/visited-cursors.js';
import { eventsOf, openFeed } from '../../support/feed.js';
import { useRedis } from '../../support/redis.js';
import { served } from '../../support/sandbox.js';

const SWEEPS = 4;
const FAULTS = ['mixed-empties', 'reordered', 'signed-pictures', 'extras'] as const;

async function restlessSandbox() {
  const { sandbox, target } = await served({ people: 60, seed: 5, start: Date.UTC(2026, 0, 1), rate: 0 });
  for (const fault of FAULTS) sandbox.fault(fault);
  return target;
}

/** The pipeline most people write first: a digest of each record's JSON. Returns how many records seem to change. */
async function naiveChanges({ url, token }: { url: string; token: string }): Promise<number> {
  const budget = { take: () => Promise.resolve(), pause: () => Promise.resolve() };
  const api = createReadApi({ workspace: 'naive', baseUrl: url, token, budget });
  onTestFinished(() => api.close());
  const digests = new Map<string, string>();
  let changes = 0;
  for (let sweep = 0; sweep < SWEEPS; sweep += 1) {
    for await (const { records } of walkList(api, 'people')) {
      for (const record of records) {
        const digest = createHash('sha256').update(JSON.stringify(record)).digest('hex');
        const before = digests.get(String(record['id']));
        if (before !== undefined && before !== digest) changes += 1;
        digests.set(String(record['id']), digest);
      }
    }
  }
  return changes;
}

const redis = useRedis();

it('nothing invented: yields no events over several sweeps and restarts', async () => {
  const { url, token } = await restlessSandbox();
  const budget = { requests: 100_000, perSeconds: 1 };
  const workspaces = [{ name: 'acme', baseUrl: url, token, budget }];
  for (let sweep = 0; sweep < SWEEPS; sweep += 1) {
    const feed = await openFeed(redis, { workspaces });
    expect((await feed.sweep()).map(({ outcome }) => outcome)).toEqual(Array(6).fill('complete'));
    expect(await eventsOf(feed)).toEqual([]);
    await feed.stop();
  }
});

it('nothing invented: a digest of the JSON sees changes in the same answers (control)', async () => {
  expect(await naiveChanges(await restlessSandbox())).toBeGreaterThan(10);
});
