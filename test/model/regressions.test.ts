import { beforeEach, describe, expect, it } from 'vitest';
import { useRedis } from '../support/redis.js';
import { judged, loadScripts } from './model.js';
import { REGRESSIONS } from './regressions.js';

describe('what the model once found is right now:', () => {
  const redis = useRedis();
  beforeEach(() => loadScripts(redis.redis));

  it.each(REGRESSIONS)('$found', async ({ scenario }) => {
    expect(await judged(redis, scenario)).toEqual([]);
  });
});
