import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { RuleData } from '../../src/config/rules.js';
import { appendEvents, changeEvent } from '../support/events.js';
import { seeded } from '../support/fan-out.js';
import { useReceivers } from '../support/handler-fixtures.js';
import { isGate } from '../support/night.js';
import { startPageFeed } from '../support/page-feed.js';
import { useRedis } from '../support/redis.js';

const RULES = isGate ? 20 : 200;
const EVENTS = isGate ? 150 : 600;
const GRADES = ['A', 'B', 'C', null];
const OWNERS = [{ id: 'u1', name: '김하나' }, { id: 'u2', name: '이둘' }, null];
const ACTORS = ['user', 'workflow', 'api'] as const;

describe('a rule and its preview', () => {
  const redis = useRedis();
  const startReceiver = useReceivers();

  it(`rules: the preview of each of ${RULES} generated rules has exactly the events that are delivered`, async () => {
    const roll = seeded(20_261_126);
    const pick = <One>(some: readonly One[]): One => some[Math.floor(roll() * some.length)] as One;
    const number = (): number => Math.floor(roll() * 6);
    const condition = (root: string): [string, unknown] =>
      pick<() => [string, unknown]>([
        () => ['등급', { becomes: pick(GRADES) }],
        () => ['등급', { from: pick(['A', 'B']), to: 'C' }],
        () => ['등급', { changes: true }],
        () => ['금액', { rises: true, ...(roll() < 0.5 && { by: pick([1, '50%']) }) }],
        () => ['금액', { falls: true }],
        () => [`${root}.등급`, [pick(GRADES), 'B']],
        () => [`${root}.금액`, { gte: number() }],
        () => [`${root}.이름`, { contains: String(number()) }],
        () => [`${root}.담당자`, pick([['김하나'], ['u2', '김하나'], null])],
        () => [`${root}.등급`, { exists: roll() < 0.5 }],
      ])();
    const rule = (at: number): RuleData => {
      const verb = pick(['updated', 'created', 'deleted', '*']);
      const object = pick(['person', 'memo', '*']);
      const conditions = Array.from({ length: Math.floor(roll() * 3) }, () =>
        condition(verb === 'deleted' ? 'before' : 'after'),
      );
      return {
        id: `r${at}`,
        to: 'chat',
        on: [`crm.${object}.${verb}`] as RuleData['on'],
        ...(conditions.length > 0 && { where: Object.fromEntries(conditions) as RuleData['where'] }),
        ...(roll() < 0.2 && { class: pick(['edited', 'refreshed'] as const) }),
        ...(roll() < 0.2 && { from: [pick(ACTORS)] }),
        mostPerMinute: 1_000,
        template: `r${at} {{id}}`,
      };
    };
    const rules = Array.from({ length: RULES }, (_, at) => rule(at));
    const event = (sequence: number) => {
      const image = () => ({ 이름: `가상인 ${number()}`, 등급: pick(GRADES), 금액: number(), 담당자: pick(OWNERS) });
      const verb = pick(['created', 'updated', 'updated', 'updated', 'deleted'] as const);
      const spec = { record: `p${sequence % 40}`, sequence, verb, list: pick(['people', 'memo'] as const) };
      const made = changeEvent({ ...spec, class: pick(['edited', 'edited', 'refreshed'] as const) });
      const actor = roll() < 0.5 ? { actor: { type: pick(ACTORS), id: null, name: null } } : {};
      const { before, after } = made.data;
      const images = { before: before && { ...before, ...image() }, after: after && { ...after, ...image() } };
      return { ...made, data: { ...made.data, ...images, ...actor } };
    };
    const receiver = await startReceiver();
    const folder = mkdtempSync(join(tmpdir(), 'changefeed-rules-'));
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
    writeFileSync(join(folder, 'rules.json'), JSON.stringify({ rules }));
    const page = await startPageFeed(redis, {
      destinations: {
        chat: { handler: 'message', url: receiver.url, allowHosts: ['127.0.0.1'], rate: { requests: 10_000 } },
      },
      rules: join(folder, 'rules.json'),
    });
    await appendEvents(
      redis,
      Array.from({ length: EVENTS }, (_, at) => event(at + 1)),
    );
    expect(await page.feed.waitUntilHandled({ timeoutMs: 240_000 })).toEqual({ outcome: 'handled' });

    // On a busy machine it takes several answers.
    const previewed = async (data: RuleData, from?: object): Promise<number> => {
      const answer = await page.act('/api/rules/preview', { rule: data, ...(from && { from }) });
      const { selected, next } = (await answer.json()) as { selected: number; next: object | null };
      return next === null ? selected : selected + (await previewed(data, next));
    };
    const delivered = new Map(rules.map(({ id }) => [id, new Set<string>()]));
    for (const { body } of receiver.received) {
      const [id = '', event = ''] = (JSON.parse(body) as { text: string }).text.split(' ');
      delivered.get(id)?.add(event);
    }
    expect(receiver.received.length).toBeGreaterThan(EVENTS);
    for (const data of rules) {
      const { tried } = await page.feed.try(`rule-${data.id}`, { examples: Infinity });
      expect({ data, ids: new Set(tried.map(({ id }) => id)) }).toEqual({ data, ids: delivered.get(data.id) });
      expect({ data, selected: await previewed(data) }).toEqual({ data, selected: delivered.get(data.id)?.size });
    }
  });
});
