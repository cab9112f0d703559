/** An import while the process that sends its messages is killed again and again. */
import { expect } from 'vitest';
import { scheduledJob } from '../../src/delivery/scheduled-job.js';
import { openQueues } from '../../src/delivery/queues.js';
import { systemClock } from '../../src/kit/clock.js';
import { createOffsetStore } from '../../src/delivery/offsets.js';
import { fanOutDeps, seeded } from './fan-out.js';
import { appendEvents, changeEvent, WORKSPACE } from './events.js';
import { eventually } from './eventually.js';
import type { useProcesses } from './process.js';
import type { TestRedis } from './redis.js';

const child = new URL('./digest-child.ts', import.meta.url);

/** @returns the ids of the events, and those that each message contained */
export async function killedImport(
  test: TestRedis,
  {
    start,
    seed,
    people,
    kills,
  }: { start: ReturnType<typeof useProcesses>; seed: number; people: number; kills: number },
) {
  const random = seeded(seed);
  const deps = fanOutDeps(test);
  const queues = openQueues({ ...deps, subscriptions: [{ name: 's' }] });
  const launch = () => start(child, { env: { DIGEST_URL: test.url, DIGEST_PREFIX: test.keys.prefix } });
  const promote = async (): Promise<void> => {
    const job = await scheduledJob(queues.of('s'), WORKSPACE);
    if (await job?.isDelayed()) await job?.promote().catch(() => undefined);
  };
  const events = Array.from({ length: people }, (_, at) =>
    changeEvent({ record: `p${at}`, sequence: 1, verb: 'created' }),
  );
  let last = '0';
  for (let kill = 0; kill < kills; kill += 1) {
    const killed = launch();
    await killed.waitForLine(/^running/);
    const part = events.slice((kill * people) / kills, ((kill + 1) * people) / kills);
    last = (await appendEvents(test, part)).at(-1) ?? last;
    const dieAtMs = systemClock.monotonic() + 20 + random() * 400;
    while (systemClock.monotonic() < dieAtMs) await promote();
    await killed.kill('SIGKILL');
  }
  launch();
  await eventually(
    async () => {
      await promote();
      expect(await createOffsetStore(test.redis, test.keys).get(WORKSPACE, 's')).toBe(last);
      expect(await deps.gate.pending('s', WORKSPACE)).toMatchObject({ events: 0 });
    },
    { timeoutMs: 120_000 },
  );
  await queues.close();
  const noted = async (kind: string): Promise<string[][]> =>
    (await test.redis.lrange(`${test.keys.prefix}:${kind}`, 0, -1)).map((line) => line.split(' '));
  return { ids: events.map(({ id }) => id), singles: await noted('singles'), digests: await noted('digests') };
}
