import { expect, it } from 'vitest';
import { soak } from './run-soak.js';

it(
  'soak: nothing is lost or invented, and what is kept has the bounds that are configured',
  { timeout: 300_000 },
  async () => {
    const kept = 100;
    const { samples, refused, ...rest } = await soak({ seconds: 75, rate: 10, seed: 1, kept });
    expect(rest).toEqual({ expected: rest.expected, found: rest.expected, wrong: 0 });
    expect(rest.expected).toBeGreaterThan(5 * kept);
    const [first, last] = [samples[1] ?? {}, samples.at(-1) ?? {}];
    // The log is trimmed once a minute.
    const logs = samples.map((sample) => sample['entries log'] ?? 0);
    expect(Math.max(...logs)).toBeGreaterThan(3 * kept);
    expect(Math.min(...logs.slice(-4))).toBeLessThan(3 * kept);
    expect(refused).toBeGreaterThan(0);
    expect(last['descriptors']).toBeLessThan((first['descriptors'] ?? 0) + 10);
    expect(last['handles']).toBeLessThan((first['handles'] ?? 0) + 10);
  },
);
