/** Sweeps an unchanged list in a process of its own, so that its memory is that of sweeps alone. Sends what each sweep took. */
import { Redis } from 'ioredis';
import { ours } from './ours.js';

export interface ChildReport {
  /** The time of each sweep. */
  ms: number[];
  /** The most that was resident, including Node. */
  peakRssMb: number;
}

const [url = '', redisUrl = '', sweeps = '5', warmUp = '2'] = process.argv.slice(2);
const redis = new Redis(redisUrl);
const changefeed = ours({ url, redis });
const ms: number[] = [];
for (let sweep = 0; sweep < Number(warmUp) + Number(sweeps); sweep += 1) {
  const started = performance.now();
  await changefeed.sweep();
  if (sweep >= Number(warmUp)) ms.push(performance.now() - started);
}
const peakRssMb = Math.round(process.resourceUsage().maxRSS / 1_024);
await changefeed.close();
redis.disconnect();
process.send?.({ ms, peakRssMb } satisfies ChildReport);
process.disconnect();
