import { describe, expect, it } from 'vitest';
import { PermanentError } from '../../src/handlers/errors.js';
import { eventually } from '../support/eventually.js';
import { fanOutDeps, wrapGate } from '../support/fan-out.js';
import { useRedis } from '../support/redis.js';
import { eventuallyDead } from '../support/running-fan-out.js';
import { changes, idOf, put, queue, debouncing, start } from '../support/debouncing.js';

const test = useRedis();

describe('a merge that fails', () => {
  it('is tried again as it was, and what came meanwhile is another', async () => {
    const seen: string[] = [];
    const events = changes(1, 2, 3, 4);
    const running = await start(
      test,
      debouncing(async ({ id }, { attempt }) => {
        seen.push(id);
        if (attempt > 1) return;
        if (seen.length === 1) await queue(running, events.slice(2));
        await running.queues.of('s').resume();
        throw new Error('not yet');
      }),
    );

    await put(running, events.slice(0, 2));

    await eventually(() => expect(seen).toHaveLength(4));
    await running.settled();
    const [first, second] = [idOf(events.slice(0, 2)), idOf(events.slice(2))];
    expect(seen).toEqual([first, first, second, second]);
  });

  it('would be another at its next try, were it not fixed at the first: the control', async () => {
    const seen: string[] = [];
    const { gate } = fanOutDeps({ redis: test.redis, keys: test.keys, connect: () => test.connect() });
    const forgetful = wrapGate(gate, { merge: () => Promise.resolve({ outcome: 'held' }) });
    const running = await start(
      test,
      debouncing(({ id }, { attempt }) => {
        seen.push(id);
        if (attempt === 1) throw new Error('not yet');
      }),
      { gate: forgetful },
    );

    await put(running, changes(1, 2));

    await eventually(() => expect(seen).toHaveLength(2));
    expect(seen[1]).not.toBe(seen[0]);
  });

  it('alone, and gets company while it waits for its next try, stays alone', async () => {
    const seen: string[] = [];
    const events = changes(1, 2);
    const running = await start(
      test,
      debouncing(async ({ id }) => {
        seen.push(id);
        if (seen.length > 1) return;
        await queue(running, events.slice(1));
        await running.queues.of('s').resume();
        throw new Error('not yet');
      }),
    );

    await put(running, events.slice(0, 1));

    await eventually(() => expect(seen).toHaveLength(3));
    expect(seen).toEqual([events[0]!.id, events[0]!.id, events[1]!.id]);
  });

  it.each(['release', 'hold'] as const)(
    'for good is one dead letter (%s), and retried it is the same merge',
    async (whenDead) => {
      const seen: string[] = [];
      let refuses = true;
      const events = changes(1, 2, 3);
      const running = await start(
        test,
        debouncing(
          ({ id }) => {
            seen.push(id);
            if (refuses) throw new PermanentError('no');
          },
          { whenDead },
        ),
      );
      await put(running, events.slice(0, 2));
      const [letter] = await eventuallyDead(running.dead, 1);
      expect(letter).toMatchObject({
        id: events[0]!.id,
        event: { id: idOf(events.slice(0, 2)), data: { sequence: 2 } },
      });

      refuses = false;
      await queue(running, events.slice(2));
      await running.dead.retry();
      await running.queues.of('s').resume();
      await eventually(() => expect(new Set(seen.slice(1))).toEqual(new Set([letter!.event.id, events[2]!.id])));
      await running.settled();

      expect(seen.filter((id) => id === letter!.event.id)).toHaveLength(2);
      expect(await running.dead.count()).toBe(0);
      expect(await test.redis.exists(test.keys.lanes('s'), test.keys.pending('s'))).toBe(0);
    },
  );

  it('held and dropped lets the record go on', async () => {
    const seen: string[] = [];
    const events = changes(1, 2, 3);
    const running = await start(
      test,
      debouncing(
        ({ id, data }) => {
          seen.push(id);
          if (data.sequence === 2) throw new PermanentError('no');
        },
        { whenDead: 'hold' },
      ),
    );
    await put(running, events.slice(0, 2));
    await eventuallyDead(running.dead, 1);
    await put(running, events.slice(2));
    await running.dead.drop();

    await eventually(() => expect(seen).toEqual([idOf(events.slice(0, 2)), events[2]!.id]));
  });
});
