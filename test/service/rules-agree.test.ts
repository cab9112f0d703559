import { describe, expect, it } from 'vitest';
import { diffRecords } from '../../src/crm/canonical.js';
import type { RuleData } from '../../src/config/rules.js';
import { appendEvents, changeEvent } from '../support/events.js';
import { seeded } from '../support/fan-out.js';
import { useReceivers } from '../support/handler-fixtures.js';
import { isGate } from '../support/night.js';
import { useRedis } from '../support/redis.js';
import { previewsAgree } from '../support/rules-agree.js';

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
      };
    };
    const rules = Array.from({ length: RULES }, (_, at) => rule(at));
    // A field that detection ignores differs in the records and is no change.
    const compares = (field: string): boolean => field !== '이름' && roll() < 0.8;
    const changesOf = ({ before, after }: { before: object | null; after: object | null }) =>
      before && after ? diffRecords({ ...before }, { ...after }, { list: 'people', nullIsAbsent: true, compares }) : [];
    const event = (sequence: number) => {
      const image = () => ({ 이름: `가상인 ${number()}`, 등급: pick(GRADES), 금액: number(), 담당자: pick(OWNERS) });
      const verb = pick(['created', 'updated', 'updated', 'updated', 'deleted'] as const);
      const spec = { record: `p${sequence % 40}`, sequence, verb, list: pick(['people', 'memo'] as const) };
      const made = changeEvent({ ...spec, class: pick(['edited', 'edited', 'refreshed'] as const) });
      const actor = roll() < 0.5 ? { actor: { type: pick(ACTORS), id: null, name: null } } : {};
      const { before, after } = made.data;
      const images = { before: before && { ...before, ...image() }, after: after && { ...after, ...image() } };
      return { ...made, data: { ...made.data, ...images, changes: changesOf(images), ...actor } };
    };
    const delivered = await previewsAgree({ redis, startReceiver, rules }, async () => {
      await appendEvents(
        redis,
        Array.from({ length: EVENTS }, (_, at) => event(at + 1)),
      );
    });
    expect(delivered).toBeGreaterThan(EVENTS);
  });
});
