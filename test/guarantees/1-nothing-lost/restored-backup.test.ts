import { join } from 'node:path';
import { Redis } from 'ioredis';
import { describe, expect, it } from 'vitest';
import type { ChangeEvent } from '../../../src/events/types.js';
import type { Status } from '../../../src/ops/watch/status.js';
import { useCli } from '../../support/cli.js';
import { eventually } from '../../support/eventually.js';
import { eventsIn } from '../../support/ndjson.js';
import { startOtherCrm } from '../../support/other-crm.js';
import { redisBinary } from '../../support/private-redis.js';
import { startPrivateRedis } from '../../support/redis.js';

/** What a test compares of an event. */
interface Delivered {
  id: string;
  verb: string | undefined;
  sequence: number;
  name: unknown;
}

describe.skipIf(redisBinary === undefined)('nothing lost: restored backup', () => {
  const cli = useCli();

  it(
    'nothing lost: after a restore, everything that happened since the backup is delivered again, above all earlier sequences',
    { timeout: 240_000 },
    async () => {
      const [crm, redis] = await Promise.all([startOtherCrm(), startPrivateRedis()]);
      const off = { enabled: false };
      const others = { organization: off, memo: off, todo: off, history: off, activity: off };
      const lists = { people: { interval: '1s', removals: { after: '1s' } }, ...others };
      const folder = await cli({
        'changefeed.config.json': {
          workspaces: [{ name: 'acme', baseUrl: crm.url, token: crm.token, lists }],
          http: { enabled: false },
          subscriptions: [{ handler: 'ndjson', name: 'out', path: 'events.ndjson', on: ['crm.person.*'] }],
        },
      });
      const { people } = crm.lists;
      const edit = (index: number, name: string): void => void (people[index] = { ...people[index]!, 이름: name });
      const [once, twice, gone, later] = [0, 1, 2, 3].map((index) => people[index]!.id);
      const delivered = (from = 0): ChangeEvent[] => eventsIn(join(folder.cwd, 'events.ndjson')).slice(from);
      const untilDelivered = (count: number): Promise<void> =>
        eventually(() => expect(delivered()).toHaveLength(count));
      const of = (events: readonly ChangeEvent[], record: string | undefined): Delivered[] =>
        events
          .filter(({ subject }) => subject === record)
          .map(({ id, type, data }) => ({
            id,
            verb: type.split('.')[2],
            sequence: data.sequence,
            name: data.after?.['이름'],
          }));

      const service = folder.start(['start'], { REDIS_URL: redis.url });
      await service.waitForLine(/"list":"people".*"sweep complete"/);
      edit(1, 'before the backup');
      await untilDelivered(1);
      // A delivery that is under way in the backup is rightly repeated.
      await eventually(async () => {
        const status = JSON.parse((await folder.call(['status', '--json'], { REDIS_URL: redis.url })).stdout) as Status;
        expect(status.subscriptions).toMatchObject([{ lagEvents: 0, waiting: 0, active: 0 }]);
      });

      const admin = new Redis(redis.url);
      await admin.save();
      const [, dir = ''] = await admin.config('GET', 'dir');
      admin.disconnect();

      // A change, two changes of one record, a new record and a removal.
      edit(0, 'once');
      edit(1, 'first');
      await untilDelivered(3);
      edit(1, 'second');
      await untilDelivered(4);
      const made = { id: 'made-after-the-backup', 이름: 'new' };
      people.push(made);
      await untilDelivered(5);
      people.splice(2, 1);
      await untilDelivered(6);
      expect(await service.kill('SIGTERM')).toEqual({ code: 0, signal: null });
      const restored = await startPrivateRedis({ backup: join(dir, 'dump.rdb') });
      await redis.close();

      const again = folder.start(['start'], { REDIS_URL: restored.url });
      // The one edited twice has one event now.
      await untilDelivered(6 + 4);
      const [before, after] = [delivered().slice(0, 6), delivered(6)];
      const highest = Math.max(...before.map(({ data }) => data.sequence));
      for (const record of [once, gone, made.id]) {
        const [repeated, ...others] = of(after, record);
        expect(others).toEqual([]);
        const { verb, name } = of(before, record)[0]!;
        expect(repeated).toMatchObject({ verb, name });
        expect(repeated!.sequence).toBeGreaterThan(highest);
      }
      const least = of(before, twice)[0]!.sequence;
      expect(of(before, twice).map(({ sequence, name }) => [sequence - least, name])).toEqual([
        [0, 'before the backup'],
        [1, 'first'],
        [2, 'second'],
      ]);
      const [merged, ...more] = of(after, twice);
      expect(more).toEqual([]);
      expect(merged).toMatchObject({ verb: 'updated', name: 'second' });
      expect(merged!.sequence).toBeGreaterThan(highest);
      expect(of(before, twice).map(({ id }) => id)).not.toContain(merged!.id);

      // It goes on from there.
      people.find(({ id }) => id === later)!['이름'] = 'after the restore';
      await untilDelivered(11);
      expect(of(delivered(10), later)).toMatchObject([{ name: 'after the restore' }]);
      // For receivers that were told what was undone meanwhile.
      const call = await folder.call(['snapshot', 'out'], { REDIS_URL: restored.url });
      expect(call).toMatchObject({
        code: 0,
        stdout: expect.stringContaining('every record of acme to "out"') as string,
      });
      await eventually(() => {
        const sent = delivered(11).filter(({ type }) => type === 'crm.person.snapshot');
        expect(sent.map(({ subject }) => subject).sort()).toEqual(people.map(({ id }) => id).sort());
        expect(delivered().at(-1)?.type).toBe('crm.person.snapshot');
      });
      expect(await again.kill('SIGTERM')).toEqual({ code: 0, signal: null });
    },
  );
});
