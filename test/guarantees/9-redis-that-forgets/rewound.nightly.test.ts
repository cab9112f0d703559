import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { LogMark } from '../../../src/state/log-mark.js';
import { redisBinary } from '../../support/private-redis.js';
import { RIGHT, rewind } from './rewind.js';

const RUNS = [500, 1_500, 3_000, 6_000, 12_000, 30_000].map((forMs, seed) => ({ forMs, seed: seed + 1 }));

const FEW = { changes: 160, forgotten: 60, perSecond: 100, seed: 3 };

describe.skipIf(redisBinary === undefined)('a Redis that forgets', () => {
  it.each(RUNS)('rewound: $forMs ms are put back by a process that runs', async ({ forMs, seed }) => {
    const forgotten = Math.ceil(forMs / 100);
    expect(await rewind({ changes: 500 + forgotten, forgotten, perSecond: 20, forMs, seed })).toEqual(RIGHT);
  });

  // What was reported and undone before the restart is wrong at the receiver: no process is left that could put it back.
  const RESTARTED = { changes: 300, forgotten: 100, perSecond: 60, seed: 4 };

  it('rewound: after a restart of everything and "changefeed rewound", no sequence is used twice or out of order, and nothing is stuck', async () => {
    const { usedTwice, outOfOrder, invented, reported, problems, pending } = await rewind({
      ...RESTARTED,
      restarts: 'told',
    });
    expect({ usedTwice, outOfOrder, invented, reported, problems, pending }).toEqual({
      usedTwice: [],
      outOfOrder: [],
      invented: 0,
      reported: 1,
      problems: [],
      pending: 0,
    });
  });

  it('rewound: without "changefeed rewound", sequences are used twice (control)', async () => {
    expect((await rewind({ ...RESTARTED, restarts: 'untold' })).usedTwice).not.toEqual([]);
  });

  it('rewound: a running process puts back what Redis forgot: nothing is missing, used twice, out of order or wrong, and it is reported', async () => {
    expect(await rewind(FEW)).toEqual(RIGHT);
  });

  it(
    'rewound: a process that does not notice it uses sequences twice, and says nothing (control)',
    { timeout: 300_000 },
    async () => {
      vi.spyOn(LogMark.prototype, 'newest', 'get').mockReturnValue('');
      onTestFinished(() => void vi.restoreAllMocks());
      const { usedTwice, wrong, reported } = await rewind(FEW);
      expect(usedTwice).not.toEqual([]);
      expect(wrong).not.toEqual([]);
      expect(reported).toBe(0);
    },
  );
});
