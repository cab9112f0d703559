import { describe, expect, it } from 'vitest';
import { createSandbox } from '../../sandbox/sandbox.js';
import type { RuleData } from '../../src/config/rules.js';
import { systemClock, type Clock } from '../../src/kit/clock.js';
import { seeded } from '../support/fan-out.js';
import { openFeed } from '../support/feed.js';
import { useReceivers } from '../support/handler-fixtures.js';
import { useRedis } from '../support/redis.js';
import { previewsAgree } from '../support/rules-agree.js';

const RULES = 200;
const HOURS = 24;
const CHANGES_PER_HOUR = 12;
const START = Date.UTC(2026, 2, 2, 15);
const FIELDS = {
  person: ['등급', '이름', '담당자', '예상 금액'],
  organization: ['직원수', '담당자'],
  todo: ['완료', '담당자', '마지막 날짜'],
};
const VALUES = ['A', 'B', 0, 50_000_000, true, false, null];

describe('a rule and its preview', { timeout: 600_000 }, () => {
  const redis = useRedis();
  const startReceiver = useReceivers();

  it(`rules: over a day of the sandbox, the preview of each of ${RULES} rules has exactly the events that are delivered`, async () => {
    const roll = seeded(46);
    const pick = <One>(some: readonly One[]): One => some[Math.floor(roll() * some.length)] as One;
    const condition = (object: keyof typeof FIELDS): [string, unknown] => {
      const field = pick(FIELDS[object]);
      return pick<() => [string, unknown]>([
        () => [field, { becomes: pick(VALUES) }],
        () => [field, { changes: true }],
        () => [field, pick([{ rises: true }, { falls: true }, { rises: true, by: '20%' }])],
        () => [`after.${field}`, { exists: roll() < 0.5 }],
        () => [`after.${field}`, pick([{ gte: 100 }, { contains: '가' }, ['A', 'B']])],
      ])();
    };
    const rules = Array.from({ length: RULES }, (_, at): RuleData => {
      const object = pick(['person', 'organization', 'todo'] as const);
      const conditions = Array.from({ length: Math.floor(roll() * 4) }, () => condition(object));
      const any = conditions.map((one) => Object.fromEntries([one]));
      const where = roll() < 0.5 && any.length > 1 ? { any } : Object.fromEntries(conditions);
      return {
        ...{ id: `r${at}`, to: 'chat', on: [`crm.${object}.${pick(['updated', 'created', '*'])}`] as RuleData['on'] },
        ...(conditions.length > 0 && { where: where as RuleData['where'] }),
        ...(roll() < 0.2 && { class: 'edited' as const }),
        ...(roll() < 0.2 && { from: ['user'] as const }),
      };
    });
    let nowMs = START;
    const clock: Clock = { ...systemClock, now: () => nowMs, monotonic: () => nowMs };
    const sandbox = createSandbox({
      seed: 7,
      start: START,
      people: 120,
      history: 60,
      activity: 60,
      limit: null,
      clock,
    });
    const { url: baseUrl, token } = await sandbox.start();
    const workspaces = [{ name: 'acme', baseUrl, token, budget: { requests: 100_000, perSeconds: 1 } }];
    const delivered = await previewsAgree({ redis, startReceiver, rules }, async () => {
      const feed = await openFeed(redis, { workspaces }, { clock });
      for (let hour = 0; hour < HOURS; hour++) {
        expect((await feed.sweep()).filter(({ outcome }) => outcome !== 'complete')).toEqual([]);
        sandbox.step(CHANGES_PER_HOUR);
        nowMs += 3_600_000;
      }
      await feed.sweep();
    });
    await sandbox.stop();
    expect(delivered).toBeGreaterThan(1_000);
  });
});
