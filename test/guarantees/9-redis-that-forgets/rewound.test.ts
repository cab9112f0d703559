import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { LogMark } from '../../../src/state/log-mark.js';
import { redisBinary } from '../../support/private-redis.js';
import { RIGHT, rewind } from './rewind.js';

const FEW = { changes: 160, forgotten: 60, perSecond: 100, seed: 3 };

describe.skipIf(redisBinary === undefined)('a Redis that forgets', () => {
  it('rewound: a running process puts back what Redis forgot: nothing is missing, used twice, out of order or wrong, and it is reported', async () => {
    expect(await rewind(FEW)).toEqual(RIGHT);
  });

  it('rewound: a process that does not notice it uses sequences twice, and says nothing (control)', async () => {
    vi.spyOn(LogMark.prototype, 'newest', 'get').mockReturnValue('');
    onTestFinished(() => void vi.restoreAllMocks());
    const { usedTwice, wrong, reported } = await rewind(FEW);
    expect(usedTwice).not.toEqual([]);
    expect(wrong).not.toEqual([]);
    expect(reported).toBe(0);
  });
});
