/**
 * Guarantee 2 from one day to the next: the same workspace begins to represent its records in another way (another spelling, further
 * keys, truncated timestamps), and later returns to the old one. That is at most a schema change; real edits are still reported.
 */
import { describe, expect, it } from 'vitest';
import type { ListInput } from '../../../src/config/schema.js';
import { descriptorOf, LIST_NAMES, type BuiltInList } from '../../../src/crm/lists/lists.js';
import type { ChangeEvent } from '../../../src/events/types.js';
import type { JournalLine, MutationLine } from '../../../sandbox/journal/lines.js';
import { contentText } from '../../../sandbox/verify/equality.js';
import { fastClock } from '../../support/fast-clock.js';
import { openFeed } from '../../support/feed.js';
import { rowsOfGate } from '../../support/night.js';
import { useRedis } from '../../support/redis.js';
import { served } from '../../support/sandbox.js';

/** Longer than the lag of any replica; a tenth of a second on the fast clock. */
const APART_MS = 12_000;
const FACTOR = 120;

/** For each record with an event: its object, its id, and whether it is new. */
const changedRecords = (events: readonly ChangeEvent[]): string[] =>
  events
    .filter(({ type }) => !type.endsWith('.schema_changed'))
    .map(
      ({ type, subject, data }) => `${type.split('.')[1] ?? ''} ${subject} ${data.before === null ? 'new' : 'known'}`,
    )
    .sort();

/** The same for what really changed in the sandbox. */
function mutatedRecords(lines: readonly JournalLine[]): string[] {
  const says = (image: MutationLine['before']): string | null =>
    contentText(image, { ignore: new Set(), refNames: 'ignored' });
  const changed = lines
    .filter((line) => line.line === 'mutation')
    .filter(({ before, after }) => says(before) !== says(after));
  return [
    ...new Set(
      changed.map(
        ({ list, id, before }) =>
          `${descriptorOf(list as BuiltInList).object} ${id} ${before === null ? 'new' : 'known'}`,
      ),
    ),
  ].sort();
}

describe('nothing invented: records with another representation', () => {
  const redis = useRedis();

  async function watched(rules: ListInput = {}) {
    const clock = fastClock(FACTOR);
    const sizes = { people: 30, organizations: 20, history: 30, activity: 30 };
    const { sandbox, target } = await served({ ...sizes, seed: 11, clock });
    const { url, token } = target;
    const budget = { requests: 100_000, perSeconds: 1 };
    const lists = Object.fromEntries(LIST_NAMES.map((list) => [list, rules]));
    const workspaces = [{ name: 'acme', baseUrl: url, token, budget, lists }];
    const feed = await openFeed(redis, { workspaces }, { clock });
    let from = '0';
    /** Runs three complete sweeps, and returns their events. */
    const sweepAndTail = async (): Promise<ChangeEvent[]> => {
      for (let sweep = 0; sweep < 3; sweep++) {
        const outcomes = (await feed.sweep()).map(({ outcome }) => outcome);
        expect(outcomes).toEqual(LIST_NAMES.map(() => 'complete'));
        await clock.sleep(APART_MS);
      }
      const events: ChangeEvent[] = [];
      for await (const { logId, event } of feed.tail({ from, follow: false })) {
        events.push(event);
        from = logId;
      }
      return events;
    };
    return { sandbox, sweepAndTail };
  }

  const FAULTS = [
    'todo-names-both',
    'minute-stamps',
    'mixed-empties',
    'drift-reshaped',
    'todo-names-wild',
    'extras',
    'still-stamps',
    'absent-empties',
    'reordered',
    'signed-pictures',
    'drift-added',
    'drift-removed',
  ];
  it.each(rowsOfGate(4, FAULTS))('%s', async (fault) => {
    const { sandbox, sweepAndTail } = await watched();
    expect(await sweepAndTail()).toEqual([]);

    for (const to of ['on', 'off'] as const) {
      sandbox.fault(fault, to);
      expect({ to, reported: changedRecords(await sweepAndTail()) }).toEqual({ to, reported: [] });

      const from = sandbox.journal.lines().length;
      sandbox.life.editPerson();
      sandbox.life.createMemo();
      expect({ to, reported: changedRecords(await sweepAndTail()) }).toEqual({
        to,
        reported: mutatedRecords(sandbox.journal.lines().slice(from)),
      });
    }
  });

  it.each(rowsOfGate(1, ['minute-stamps', 'drift-removed', 'extras']))(
    'nothing invented: %s is reported record by record without the collapse (control)',
    async (fault) => {
      const { sandbox, sweepAndTail } = await watched({ collapse: false });
      await sweepAndTail();
      sandbox.fault(fault);
      expect(changedRecords(await sweepAndTail()).length).toBeGreaterThan(20);
    },
  );
});
