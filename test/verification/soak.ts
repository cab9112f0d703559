/**
 * A long soak (run-soak.ts). Fails when something grows: the median of the last third above that of the middle third by more than a tenth.
 *
 *   npm run verify:soak -- --minutes 20 --rate 40 --seed 1
 */
import { parseArgs } from 'node:util';
import { grown, soak } from './run-soak.js';

const { values } = parseArgs({
  options: { minutes: { type: 'string' }, rate: { type: 'string' }, seed: { type: 'string' } },
});
const { samples, ...result } = await soak({
  seconds: Number(values.minutes ?? 20) * 60,
  rate: Number(values.rate ?? 40),
  seed: Number(values.seed ?? 1),
  kept: 2_000,
});
const growth = grown(samples);
process.stdout.write(`${JSON.stringify({ ...result, samples: samples.length, ...growth }, null, 1)}\n`);
if (result.found !== result.expected || result.wrong > 0 || growth.growing.length > 0) process.exitCode = 1;
