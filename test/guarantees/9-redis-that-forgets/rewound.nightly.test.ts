import { describe, expect, it } from 'vitest';
import { redisBinary } from '../../support/private-redis.js';
import { RIGHT, rewind } from './rewind.js';

const RUNS = [500, 1_500, 3_000, 6_000, 12_000, 30_000].map((forMs, seed) => ({ forMs, seed: seed + 1 }));

describe.skipIf(redisBinary === undefined)('a Redis that forgets', () => {
  it.each(RUNS)('rewound: $forMs ms are put back by a process that runs', async ({ forMs, seed }) => {
    const forgotten = Math.ceil(forMs / 100);
    expect(await rewind({ changes: 500 + forgotten, forgotten, perSecond: 20, forMs, seed })).toEqual(RIGHT);
  });
});
