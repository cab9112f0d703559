import { expect, it, onTestFinished } from 'vitest';
import { createDispatcher } from '../../../src/delivery/dispatcher.js';
import { createHandlerPool } from '../../../src/delivery/run/handler-pool.js';
import type { RecordGate } from '../../../src/delivery/groups/gate.js';
import type { Handle } from '../../../src/delivery/handlers/handler.js';
import { aSubscription, fanOutDeps, openGate, seeded } from '../../support/fan-out.js';
import { appendEvents, changeEvent } from '../../support/events.js';
import { rowsOfGate } from '../../support/night.js';
import { useRedis } from '../../support/redis.js';
import { eventually } from '../../support/eventually.js';

const test = useRedis();
const RECORDS = 7;
const EVENTS = 420;

interface Witness {
  handle: Handle;
  /** Sequences in the order in which they were handled, per record. */
  handled: Map<string, number[]>;
  violations: string[];
}

/** Fails and delays at random, and records every violation of the order. */
function aWitness(random: () => number): Witness {
  const handled = new Map<string, number[]>();
  const running = new Map<string, number>();
  const violations: string[] = [];
  const handle: Handle = async (event, { signal }) => {
    const { subject, data } = event;
    const done = handled.get(subject) ?? [];
    const beside = running.get(subject);
    if (beside !== undefined) violations.push(`${subject}: ${data.sequence} beside ${beside}`);
    if (data.sequence !== (done.at(-1) ?? 0) + 1)
      violations.push(`${subject}: ${data.sequence} after ${done.at(-1) ?? 0}`);
    running.set(subject, data.sequence);
    try {
      for (let turns = Math.floor(random() * 4); turns > 0; turns -= 1) await test.redis.ping();
      signal.throwIfAborted();
      if (random() < 0.2) throw new Error('by chance');
      handled.set(subject, [...(handled.get(subject) ?? []), data.sequence]);
    } finally {
      running.delete(subject);
    }
  };
  return { handle, handled, violations };
}

async function runFanOut(seed: number, gate?: RecordGate): Promise<Witness> {
  const random = seeded(seed);
  const witness = aWitness(random);
  const subscription = aSubscription('ordered', witness.handle, {
    concurrency: 8,
    retry: { attempts: 1_000, delayMs: 2, maxDelayMs: 6 },
  });
  const deps = {
    ...fanOutDeps(test),
    subscriptions: [subscription],
    random,
  };
  const wired = gate === undefined ? deps : { ...deps, gate };
  const dispatcher = createDispatcher(wired);
  const pools = [1, 2, 3].map(() => createHandlerPool(wired));
  onTestFinished(async () => {
    await Promise.all(pools.map((pool) => pool.stop()));
    await dispatcher.close();
  });
  const next = new Map<string, number>();
  const events = Array.from({ length: EVENTS }, () => {
    const record = `r${Math.floor(random() * RECORDS)}`;
    const sequence = (next.get(record) ?? 0) + 1;
    next.set(record, sequence);
    return changeEvent({ record, sequence });
  });

  await appendEvents(test, events.slice(0, EVENTS / 2));
  await Promise.all([dispatcher.start(), ...pools.map((pool) => pool.start())]);
  await appendEvents(test, events.slice(EVENTS / 2));

  await eventually(() => {
    const count = [...witness.handled.values()].reduce((sum, { length }) => sum + length, 0);
    expect(count).toBeGreaterThanOrEqual(EVENTS);
  });
  return witness;
}

const seeds = rowsOfGate(1, [Math.floor(Math.random() * 1_000_000), 1, 2]);

it.each(seeds)(
  'order per record: holds with three workers, random failures and a growing log (seed %i)',
  async (seed) => {
    const { handled, violations } = await runFanOut(seed);

    expect(violations).toEqual([]);
    expect([...handled.values()].flat()).toHaveLength(EVENTS);
  },
);

it('order per record: is broken without ordering groups (control)', async () => {
  const { violations } = await runFanOut(1, openGate(test));

  expect(violations.length).toBeGreaterThan(0);
});
