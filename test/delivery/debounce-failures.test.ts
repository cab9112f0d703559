import { describe, expect, it } from 'vitest';
import type { ChangeEvent } from '../../src/events/types.js';
import { PermanentError } from '../../src/delivery/handlers/errors.js';
import { eventually } from '../support/eventually.js';
import { appendEvents, changesOf, WORKSPACE } from '../support/events.js';
import { fanOutDeps } from '../support/fan-out.js';
import { useFanOutProcesses } from '../support/fan-out-processes.js';
import { rowsOfGate } from '../support/night.js';
import { useRedis } from '../support/redis.js';
import { eventuallyDead } from '../support/running-fan-out.js';
import { changes, idOf, put, queue, debouncing, start, stateOf } from '../support/debouncing.js';

const test = useRedis();

describe('debounce: a failed merge', () => {
  it('is retried unchanged, and later events form another merge', async () => {
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

  it('a single event that waits for its retry is not merged with later events', async () => {
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
    'becomes one dead letter (%s), and is the same merge when it is retried',
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
      expect(await stateOf(test)).toEqual([test.keys.entered('s', WORKSPACE)]);
    },
  );

  it('releases the record when it is held and then dropped', async () => {
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

describe('debounce: a process killed', () => {
  const { launch, launchFrozen, linesOf } = useFanOutProcesses(test);
  const pending = async (): Promise<number> => (await fanOutDeps(test).gate.pending('s', WORKSPACE)).events;
  const env = { settles: '1' };
  const [early, late] = [changesOf('a', 1, 2, 3), changesOf('a', 4, 5)];
  const line = (events: readonly ChangeEvent[], id = idOf(events)): string => {
    const last = events.at(-1)!;
    return `${last.subject} ${last.data.sequence} ${id}`;
  };

  const KILLS: [string, string, string[], string[]][] = [
    ['in the handler', 'handling-3', [line(early), line(early), line(late)], [line(early), line(late)]],
    // The merge was not decided, so later events belong to it.
    ['before a merge is stored', 'merging', [line([...early, ...late])], [line([...early, ...late])]],
    ['after the merge was stored, before the handler', 'merged', [line(early), line(late)], [line(early), line(late)]],
    ['after the merge has left', 'left', [line(early), line(late)], [line(early), line(late)]],
  ];
  it.each(rowsOfGate(1, KILLS))(
    '%s loses no event, and a stored merge stays the same',
    async (_when, freeze, seen, done) => {
      launch('dispatch', env);
      await appendEvents(test, early);
      await eventually(async () => expect(await pending()).toBe(early.length));
      await launchFrozen('handle', { ...env, freeze });
      const before = await pending();
      await appendEvents(test, late);
      await eventually(async () => expect(await pending()).toBe(before + late.length));

      launch('handle', env);

      await eventually(async () => expect(await linesOf('done')).toEqual(done));
      await eventually(async () => expect(await pending()).toBe(0));
      expect(await linesOf('seen')).toEqual(seen);
    },
  );
});
