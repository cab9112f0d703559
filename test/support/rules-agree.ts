/** Whether the preview of each rule has exactly the events that are delivered for it. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished } from 'vitest';
import type { RuleData } from '../../src/config/rules.js';
import type { useReceivers } from './handler-fixtures.js';
import { startPageFeed } from './page-feed.js';
import type { TestRedis } from './redis.js';

interface Agreeing {
  redis: TestRedis;
  startReceiver: ReturnType<typeof useReceivers>;
  /** Each has a destination of its own. */
  rules: readonly RuleData[];
}

/** @param happen what fills the log of the workspace `acme` @returns how many messages were delivered */
export async function previewsAgree(
  { redis, startReceiver, rules: given }: Agreeing,
  happen: () => Promise<void>,
): Promise<number> {
  // Limits count by destination.
  const rules = given.map((rule) => {
    return { ...rule, to: `chat ${rule.id}`, mostPerMinute: 1_000, template: `${rule.id} {{id}}` };
  });
  const receiver = await startReceiver();
  const folder = mkdtempSync(join(tmpdir(), 'changefeed-rules-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  writeFileSync(join(folder, 'rules.json'), JSON.stringify({ rules }));
  const page = await startPageFeed(redis, {
    destinations: Object.fromEntries(
      rules.map(({ id, to }) => {
        const url = `${receiver.url.replace(/\/$/, '')}/${id}`;
        return [to, { handler: 'message', url, allowHosts: ['127.0.0.1'], rate: { requests: 10_000 } }];
      }),
    ),
    rules: join(folder, 'rules.json'),
  });
  await happen();
  expect(await page.feed.waitUntilHandled({ timeoutMs: 240_000 })).toEqual({ outcome: 'handled' });

  // On a busy machine it takes several answers.
  const previewed = async (data: RuleData, from?: string): Promise<number> => {
    const answer = await page.act('/api/rules/preview', { rule: data, ...(from && { from }) });
    const { selected, next } = (await answer.json()) as { selected: number; next: string | null };
    return next === null ? selected : selected + (await previewed(data, next));
  };
  const delivered = new Map(rules.map(({ id }) => [id, new Set<string>()]));
  for (const { body } of receiver.received) {
    const [id = '', event = ''] = (JSON.parse(body) as { text: string }).text.split(' ');
    delivered.get(id)?.add(event);
  }
  for (const data of rules) {
    const { tried } = await page.feed.try(`rule-${data.id}`, { examples: Infinity });
    expect({ data, ids: new Set(tried.map(({ id }) => id)) }).toEqual({ data, ids: delivered.get(data.id) });
    expect({ data, selected: await previewed(data) }).toEqual({ data, selected: delivered.get(data.id)?.size });
  }
  return receiver.received.length;
}
