import { expect, it } from 'vitest';
import { parseRedisUrl } from '../../src/redis/client.js';

const nothing = {
  ...{ username: undefined, password: undefined, database: 0, own: {} },
  ...{ master: '', sentinelPassword: undefined },
};

it('Redis address: of a cluster', () => {
  expect(parseRedisUrl('rediss+cluster://me:p%40ss@10.0.0.1:7000,redis.example,[::1]:7002/')).toEqual({
    ...nothing,
    kind: 'cluster',
    nodes: [
      { host: '10.0.0.1', port: 7000 },
      { host: 'redis.example', port: 6379 },
      { host: '::1', port: 7002 },
    ],
    place: '10.0.0.1:7000, redis.example:6379, [::1]:7002',
    urls: ['rediss://me:p%40ss@10.0.0.1:7000', 'rediss://me:p%40ss@redis.example', 'rediss://me:p%40ss@[::1]:7002'],
    isEncrypted: true,
    username: 'me',
    password: 'p@ss',
  });
});

it('Redis address: with Sentinel', () => {
  expect(parseRedisUrl('redis+sentinel://:secret@s1,s2:26380/feed%20master/3?sentinelPassword=other')).toMatchObject({
    ...nothing,
    kind: 'sentinel',
    nodes: [
      { host: 's1', port: 26379 },
      { host: 's2', port: 26380 },
    ],
    place: 's1:26379, s2:26380',
    isEncrypted: false,
    password: 'secret',
    database: 3,
    master: 'feed master',
    sentinelPassword: 'other',
  });
});

it.each([
  'redis://:50%sure@host',
  'redis://us%er:p@host/0',
  'redis+sentinel://host/feed%master',
  'redis+cluster://:50%sure@host,other',
])('Redis address: %s has a bad escape, and the error does not repeat it', (url) => {
  const message = expect.stringMatching(/^(?!.*sure).*write % itself as %25/) as string;
  expect(() => parseRedisUrl(url)).toThrow(expect.objectContaining({ code: 'CF_CONFIG_INVALID', message }) as Error);
  expect(() => parseRedisUrl(url.replaceAll(/%(?=[sem])/g, '%25'))).not.toThrow();
});
