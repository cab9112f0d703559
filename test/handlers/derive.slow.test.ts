import { describe, expect, it } from 'vitest';
import type { ChangeEvent } from '../../src/events/types.js';
import { defineDerive, derivingSubscription, type Derivation } from '../../src/handlers/derive.js';
import { appendOnce } from '../../src/state/event-log.js';
import { eventually } from '../support/eventually.js';
import { aSubscription, appendEvents, changeEvent } from '../support/fan-out.js';
import { useProcesses } from '../support/process.js';
import { eventuallyDead, runFanOut } from '../support/running-fan-out.js';
import { useRedis } from '../support/redis.js';

const test = useRedis();
const start = useProcesses();
const child = new URL('../support/derive-child.ts', import.meta.url);

async function logged(): Promise<ChangeEvent[]> {
  const entries = await test.redis.xrange(test.keys.log('acme'), '-', '+');
  return entries.map(([, [, json = '']]) => JSON.parse(json) as ChangeEvent);
}
const derived = async (): Promise<ChangeEvent[]> => (await logged()).filter(({ data }) => data.derivedBy !== undefined);
const deriving = (derivation: Derivation) =>
  derivingSubscription(derivation, (...call) => appendOnce({ redis: test.redis, keys: test.keys }, ...call));

describe('a derive function', () => {
  const promotions = defineDerive({
    name: 'promotions',
    emits: ['acme.person.promoted', 'acme.person.moved'],
    start: 'beginning',
    derive: ({ data: { sequence } }) => [
      { type: 'acme.person.promoted', data: { to: sequence } },
      { type: 'acme.person.moved' },
    ],
  });

  it('derive: its events are in the log, in order per record, and reach other subscriptions', async () => {
    const seen: string[] = [];
    const listener = aSubscription(
      'listener',
      ({ type, subject, data }) => {
        seen.push(`${type} ${subject} ${data.sequence}`);
      },
      { on: ['acme.*'] },
    );
    const fanOut = await runFanOut(test, [deriving(promotions), listener]);
    const [source] = [1, 2, 3].map((sequence) => changeEvent({ record: 'r1', sequence }));
    await fanOut.append(1, 2, 3);
    await eventually(() =>
      expect(seen).toEqual(
        [1, 2, 3].flatMap((sequence) => [`acme.person.promoted r1 ${sequence}`, `acme.person.moved r1 ${sequence}`]),
      ),
    );
    const [promoted, moved] = await derived();
    expect(promoted).toEqual({
      ...source,
      id: promoted?.id,
      type: 'acme.person.promoted',
      data: { ...source?.data, derivedFrom: source?.id, derivedBy: 'promotions', derived: { to: 1 } },
    });
    expect(promoted?.id).toMatch(/^evt_[0-9a-f]{32}$/);
    expect(moved?.id).not.toBe(promoted?.id);
    // Nothing is derived from what was derived.
    await fanOut.settled();
    expect(await derived()).toHaveLength(6);
  });

  it.each([
    [
      'of a type it does not emit',
      () => ({ type: 'acme.person.sacked' }),
      /type "acme\.person\.sacked"; allowed: .* one of its emits \(acme\.person\.promoted\)/,
    ],
    ['that is none', () => 'acme.person.promoted', /returned a string/],
    [
      'whose data is not an object',
      () => ({ type: 'acme.person.promoted', data: [1] }),
      /returned an .* data a plain JSON object/,
    ],
    [
      'whose data is not JSON',
      () => ({ type: 'acme.person.promoted', data: { n: 1n } }),
      /returned an .* data a plain JSON object/,
    ],
  ])(
    'derive: returning an event %s makes one dead letter, and nothing is appended to the log',
    async (_what, wrong, why) => {
      const derive = defineDerive({
        name: 'wrong',
        emits: ['acme.person.promoted'],
        start: 'beginning',
        derive: wrong as unknown as () => undefined,
      });
      const fanOut = await runFanOut(test, [deriving(derive)]);
      await fanOut.append(1);
      const [letter] = await eventuallyDead(fanOut.dead, 1);
      expect(letter).toMatchObject({
        subscription: 'wrong',
        attempts: [{ message: expect.stringMatching(why) as string }],
      });
      expect(await derived()).toEqual([]);
    },
  );

  it.each([
    ['before its events are appended', 'before', 0],
    ['after they are appended and before that is known', 'after', 1],
  ])(
    'derive: a process killed %s runs it again, and its events are in the log once',
    async (_when, freezeAt, byThen) => {
      const env = { DERIVE_URL: test.url, DERIVE_PREFIX: test.keys.prefix };
      await appendEvents(
        test.redis,
        test.keys,
        [1, 2].map((sequence) => changeEvent({ record: 'r1', sequence })),
      );
      const victim = start(child, { env: { ...env, DERIVE_FREEZE: freezeAt } });
      await victim.waitForLine(/^frozen/);
      expect(await derived()).toHaveLength(byThen);
      await victim.kill();

      start(child, { env });
      const expected = ['acme.person.promoted 1', 'acme.person.promoted 2'];
      const eventLines = async () => (await derived()).map(({ type, data }) => `${type} ${data.sequence}`);
      await eventually(async () => expect(await eventLines()).toEqual(expected));
      // The control: the function itself was called again.
      expect(await test.redis.lrange(`${test.keys.prefix}:seen`, 0, -1)).toEqual(['r1 1', 'r1 1', 'r1 2']);
    },
  );
});
