import { describe, expect, it } from 'vitest';
import type { Finding } from '../../../src/ops/doctor/finding.js';
import { judgeRedis } from '../../../src/ops/doctor/redis.js';
import { judgeEndpoint } from '../../../src/ops/doctor/receivers.js';
import { wordsFor } from '../../../src/words/words.js';

const { t } = wordsFor('en');

const wrong = (findings: readonly Finding[]) =>
  findings.filter(({ result }) => result !== 'ok').map(({ result, check, seen }) => `${result} ${check}: ${seen}`);

describe('doctor: Redis', () => {
  const INFO = ['redis_version:7.0.15', 'role:master', 'used_memory:1048576', 'maxmemory:0', 'aof_enabled:1'];
  const facts = {
    ...{ place: 'redis:6379', refusal: null, evictionPolicy: 'noeviction', snapshots: '' },
    ...{ clockApartMs: 20, allowEviction: false },
  };
  const judged = (lines: readonly string[], more: object = {}) => {
    const names = new Set(lines.map((line) => line.split(':')[0]));
    const info = [...INFO.filter((line) => !names.has(line.split(':')[0])), ...lines].join('\r\n');
    return wrong(judgeRedis({ ...facts, info, ...more }, t));
  };

  it('one that keeps everything is in order', () => {
    expect(judged([])).toEqual([]);
  });

  it.each([
    ['an old one', ['redis_version:6.0.16'], {}, /^error Redis: version: Redis 6\.0\.16/],
    ['one that is not tested', ['redis_version:6.2.1'], {}, /^warning Redis: version/],
    ['a replica', ['role:slave'], {}, /^error Redis: writes: .*replica/],
    ['one that evicts', [], { evictionPolicy: 'allkeys-lru' }, /^error Redis: eviction: .*allkeys-lru/],
    ['one that may evict', [], { evictionPolicy: 'allkeys-lru', allowEviction: true }, /^warning .*accepts this/],
    ['a policy that may not be read', [], { evictionPolicy: null }, /^skipped Redis: eviction/],
    ['one without a disk', ['aof_enabled:0'], {}, /^warning Redis: persistence: nothing is kept/],
    ['one with snapshots', ['aof_enabled:0'], { snapshots: '3600 1' }, /^warning .*snapshots only/],
    ['one that is nearly full', ['used_memory:950', 'maxmemory:1000'], {}, /^warning Redis: memory/],
    ['a user that may not run what scripts need', [], { refusal: 'ERR The user …' }, /^error Redis: rights: no sweep/],
    ['another clock', [], { clockApartMs: -120_000 }, /^warning Redis: clock: 120 s behind/],
  ])('%s', (_, lines, more, expected) => {
    expect(judged(lines, more)).toEqual([expect.stringMatching(expected)]);
  });

  it('a Valkey is named by its own version', () => {
    const [version] = judgeRedis({ ...facts, info: 'redis_version:7.2.4\r\nvalkey_version:8.0.1\r\naof_enabled:1' }, t);
    expect(version).toMatchObject({ result: 'ok', seen: 'Valkey 8.0.1' });
  });
});

describe('doctor: receivers', () => {
  it('the remedy of a handler is shown instead of the one for addresses', () => {
    const reached = { place: 'db:5432', problem: 'no' };
    expect(judgeEndpoint('mirror', { ...reached, remedy: 'Start it.' }, t).todo).toBe('Start it.');
    expect(judgeEndpoint('mirror', reached, t).todo).toContain('webhook test mirror');
  });
});
