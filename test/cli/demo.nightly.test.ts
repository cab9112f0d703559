import { describe, expect, it } from 'vitest';
import type { TodosReport } from '../../src/crm/todo-counts.js';
import { useCli } from '../support/cli.js';
import { eventually } from '../support/eventually.js';
import { useRedis } from '../support/redis.js';

interface Subscribed {
  name: string;
  dead: number;
  handledLastMinute: number;
}

describe('demo', { timeout: 240_000 }, () => {
  const cli = useCli();
  const redis = useRedis();

  it('demo: shows subscriptions that deliver, a retry, a dead letter that a person recovers, and todos of these weeks', async () => {
    const running = (await cli()).start(['demo', '--rate', '30', '--people', '60'], { REDIS_URL: redis.url });
    const LINK = /(http:\/\/\S+)\/#t=(\S+)/;
    const [, url = '', token = ''] = (await running.waitForLine(LINK)).match(LINK) ?? [];
    const authorization = `Bearer ${token}`;
    const read = async <Answer>(path: string): Promise<Answer> =>
      (await (await fetch(`${url}${path}`, { headers: { authorization } })).json()) as Answer;
    const subscriptions = async () => (await read<{ subscriptions: Subscribed[] }>('/api/status')).subscriptions;
    await running.waitForLine(/handler failed, the event will be retried/);
    await eventually(async () => {
      const all = await subscriptions();
      expect(all.map(({ name }) => name)).toEqual(['ops', 'team-chat', 'archive']);
      expect(all.every(({ handledLastMinute }) => handledLastMinute > 0)).toBe(true);
      expect(all[0]?.dead).toBeGreaterThan(0);
    });

    const [{ workspaces }, { deadLetters }] = await Promise.all([
      read<TodosReport>('/api/todos?since=30d'),
      read<{ deadLetters: { id: string }[] }>('/api/dead-letters'),
    ]);
    const { total, days } = workspaces[0]!;
    expect(total.overdue).toBeLessThan(total.open / 2);
    expect(total.completionRate).toBeGreaterThan(0.5);
    expect(days.length).toBeGreaterThan(10);

    const ids = deadLetters.map(({ id }) => id);
    await fetch(`${url}/api/dead-letters/retry`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-changefeed-action': '1', authorization },
      body: JSON.stringify({ subscription: 'ops', ids }),
    });
    await eventually(async () => {
      const left = (await read<{ deadLetters: { id: string }[] }>('/api/dead-letters')).deadLetters;
      expect(left.filter(({ id }) => ids.includes(id))).toEqual([]);
    });
  });
});
