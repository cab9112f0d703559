import { describe, expect, it } from 'vitest';
import type { Finding } from '../../../src/ops/doctor/finding.js';
import { judgeRedis } from '../../../src/ops/doctor/redis.js';
import { judgeDisk, judgeClear, judgeEndpoint, judgeFeed } from '../../../src/ops/doctor/surroundings.js';
import { wordsFor } from '../../../src/words/words.js';
import { formatsFor } from '../../../src/words/format.js';

const { t } = wordsFor('en');
const formats = formatsFor({ language: 'en', now: 0 });

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

describe('doctor: disk and feed', () => {
  it('an address without encryption', () => {
    const found = judgeClear({ subject: { redis: 'redis.example:6379' }, reason: 'why', remedy: 'use rediss' }, t);
    expect(found).toEqual({
      result: 'warning',
      check: 'address of redis redis.example:6379',
      seen: 'why',
      todo: 'Use rediss.',
    });
  });

  it('the remedy of a handler is shown instead of the one for addresses', () => {
    const reached = { place: 'db:5432', problem: 'no' };
    expect(judgeEndpoint('mirror', { ...reached, remedy: 'Start it.' }, t).todo).toBe('Start it.');
    expect(judgeEndpoint('mirror', reached, t).todo).toContain('webhook test mirror');
  });

  it('a disk that is nearly full, and one that is full', () => {
    expect(judgeDisk('/state', 5e9, t).result).toBe('ok');
    expect(judgeDisk('/state', 5e8, t).result).toBe('warning');
    expect(judgeDisk('/state', 5e7, t).result).toBe('error');
  });

  it('without a process, missing roles are one finding', () => {
    const missing = { severity: 'error', kind: 'role.missing', subject: 'role:poll', message: 'none' } as const;
    const late = { severity: 'error', kind: 'list.late', subject: 'list:people', message: 'late' } as const;
    const dead = [{ subscription: 'ops', count: 2 }];
    expect(wrong(judgeFeed({ processes: 0, problems: [missing, late], dead }, formats))).toEqual([
      expect.stringMatching(/^warning feed: no process is running/),
      'error list people: late',
      'warning dead letters of ops: 2 events were given up',
    ]);
    expect(wrong(judgeFeed({ processes: 1, problems: [missing], dead: [] }, formats))).toEqual([
      'error role poll: none',
    ]);
    expect(judgeFeed({ processes: 1, problems: [], dead: [] }, formats)).toMatchObject([{ result: 'ok' }]);
  });
});
