import { beforeEach, describe, expect, it } from 'vitest';
import { useRedis } from '../support/redis.js';
import { violationsOf, loadScripts } from './model.js';
import { REGRESSIONS } from './regressions.js';

describe('model: past failures', () => {
  const redis = useRedis();
  beforeEach(() => loadScripts(redis.redis));

  it.each(REGRESSIONS)('$found', async ({ scenario }) => {
    expect(await violationsOf(redis, scenario)).toEqual([]);
  });
});
