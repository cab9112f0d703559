import { describe, expect, it } from 'vitest';
import { mergedEventId } from '../../src/events/envelope.js';
import type { ChangeEvent } from '../../src/events/types.js';
import { eventually } from '../support/eventually.js';
import { fanOutDeps } from '../support/fan-out.js';
import { appendEvents, changeEvent } from '../support/events.js';
import { useFanOutProcesses } from '../support/fan-out-processes.js';
import { rowsOfGate } from '../support/night.js';
import { useRedis } from '../support/redis.js';

const test = useRedis();
const { launch, launchFrozen, linesOf } = useFanOutProcesses(test);
const of = (record: string, ...sequences: number[]): ChangeEvent[] =>
  sequences.map((sequence) => changeEvent({ record, sequence }));
const idOf = (events: readonly ChangeEvent[]): string => mergedEventId(events.map(({ id }) => id));

const gateOf = () => fanOutDeps(test).gate;

async function queue(events: readonly ChangeEvent[]): Promise<void> {
  const gate = gateOf();
  const counted = async (): Promise<number> => (await gate.pending('s', 'acme')).events;
  const before = await counted();
  await appendEvents(test, events);
  await eventually(async () => expect(await counted()).toBe(before + events.length));
}

async function eventuallyIdle(): Promise<void> {
  const gate = gateOf();
  await eventually(async () => expect(await gate.pending('s', 'acme')).toMatchObject({ events: 0, oldest: null }));
}

describe('debounce: a process killed', () => {
  const env = { settles: '1' };
  const [early, late] = [of('a', 1, 2, 3), of('a', 4, 5)];
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
      await queue(early);
      await launchFrozen('handle', { ...env, freeze });
      await queue(late);

      launch('handle', env);

      await eventually(async () => expect(await linesOf('done')).toEqual(done));
      await eventuallyIdle();
      expect(await linesOf('seen')).toEqual(seen);
    },
  );
});
