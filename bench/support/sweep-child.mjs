/**
 * Sweeps an unchanged list in a process of its own, with the compiled code, so that time and memory are those of sweeps alone, without a
 * compiler. Sends what each sweep took, and the most memory that was resident. Arguments: url, Redis URL, sweeps, sweeps to warm up.
 */
import { Redis } from 'ioredis';
import { createReadApi } from '../../dist/src/api/client.js';
import { compileRules } from '../../dist/src/detect/rules.js';
import { systemClock as clock } from '../../dist/src/runtime/clock.js';
import { silentLog as log } from '../../dist/src/runtime/log.js';
import { Keys } from '../../dist/src/state/keys.js';
import { createSweepStore } from '../../dist/src/state/sweep-store.js';
import { sweepList } from '../../dist/src/sweep/run-sweep.js';

const [baseUrl, redisUrl, sweeps = '5', warmUp = '2'] = process.argv.slice(2);
const workspace = 'bench';
const redis = new Redis(redisUrl);
const budget = { take: () => Promise.resolve(), pause: () => Promise.resolve() };
const api = createReadApi({ workspace, baseUrl, token: 'bench', budget });
const store = createSweepStore(redis, new Keys('bench'), workspace);
const options = { list: 'people', rules: compileRules('people'), baseline: 'quiet' };
const ms = [];
for (let sweep = 0; sweep < Number(warmUp) + Number(sweeps); sweep += 1) {
  const started = performance.now();
  await sweepList({ workspace, api, store, clock, log }, options);
  if (sweep >= Number(warmUp)) ms.push(performance.now() - started);
}
const peakRssMb = Math.round(process.resourceUsage().maxRSS / 1_024);
await api.close();
redis.disconnect();
process.send?.({ ms, peakRssMb });
process.disconnect?.();
