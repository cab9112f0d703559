/** A process of a history: it polls, dispatches and handles until it is killed. Its clock is that of the history. */
import { parseConfig } from '../../src/config/parse.js';
import { openChangefeed } from '../../src/service/changefeed.js';
import { fastClock, skippingClock } from '../support/fast-clock.js';
import type { CopyTask } from './processes.js';

const {
  config,
  redisUrl,
  clock: began,
  skippedMs,
  steppedMs,
} = JSON.parse(process.env['COPY_TASK'] ?? '{}') as CopyTask;
const clock = skippingClock(fastClock(began.factor, began));
clock.skip(skippedMs);
clock.step(steppedMs);
process.on('message', ({ skip = 0, step = 0 }: { skip?: number; step?: number }) => {
  clock.skip(skip);
  clock.step(step);
});

const feed = await openChangefeed({
  config: parseConfig(config, { source: 'the history', redisUrl }),
  clock,
  attempts: 2,
});
process.once('SIGTERM', () => void feed.stop().finally(() => process.exit()));
// Its parent has ended.
process.once('disconnect', () => process.exit());
await feed.start(['poll', 'dispatch', 'handle']);
process.send?.('running');
