/** The options of the Redis that holds everything. */
import type { ConnectionOptions } from 'node:tls';
import { z } from 'zod';
import { redisNode, redisUrl } from '../kit/schema/addresses.js';
import { listOf, matching, strictOptions, text, wholeNumber, yesOrNo } from '../kit/schema/fields.js';
import { secret } from '../kit/schema/secret.js';

const A_TLS = "an object with options of Node's tls.connect, such as { ca, servername }";
const A_FAMILY = '4 or 6, or 0 for either';

const redisConnectionOptions = strictOptions({
  /** Where the URL names none. @defaultValue none */
  username: text('the name of a user').optional(),
  /** Where the URL has none. @defaultValue none */
  password: secret(text('a password')).optional(),
  /** Options of Node's `tls.connect`, such as `ca`, `cert`, `key` and `servername`; encrypts also with `redis:`. @defaultValue none */
  tls: secret(z.custom<ConnectionOptions>((given) => typeof given === 'object' && given !== null, A_TLS)).optional(),
  /** Version of IP: 4 or 6; 0 takes either. @defaultValue 0 */
  family: z.union([z.literal(0), z.literal(4), z.literal(6)], { error: A_FAMILY }).default(0),
  /** The longest time for connecting, in ms. @defaultValue 10000 */
  connectTimeout: wholeNumber(1, 600_000).default(10_000),
  /** The user of the Sentinels. @defaultValue none */
  sentinelUsername: text('the name of a user').optional(),
  /** The password of the Sentinels. @defaultValue none */
  sentinelPassword: secret(text('a password')).optional(),
});

const redisOptions = strictOptions({
  /**
   * `redis://:password@host:6379/0`, of a Redis Cluster `redis+cluster://host:6379,host:6379`, with Sentinel
   * `redis+sentinel://host:26379,host:26379/name`; with `rediss` in place of `redis`, encrypted. The variable `REDIS_URL` wins over it.
   * @defaultValue a private Redis in the state directory
   */
  url: redisUrl.optional(),
  /** Some nodes of a Redis Cluster without password and TLS, in place of `url`. @defaultValue none */
  cluster: listOf(redisNode, "nodes, such as '10.0.0.7:6379'").optional(),
  /** Options of the connections, named as in ioredis: for what an address cannot say. `REDIS_URL` does not replace them. @defaultValue none */
  options: redisConnectionOptions.optional(),
  /** Prefix of every key. Letters, digits, `-`, `_`, `.`, `:`. @defaultValue 'changefeed' */
  prefix: matching(/^[\w.:-]{1,64}$/, "letters, digits, '-', '_', '.' and ':', 1 to 64 characters").default(
    'changefeed',
  ),
  /** Run although `maxmemory-policy` is not `noeviction`: when memory is full, state is lost (see redis.md). @defaultValue false */
  allowEviction: yesOrNo.default(false),
});

/** `redis: '…'` is short for `redis: { url: '…' }`. */
export const redis = z.preprocess(
  (given: string | z.input<typeof redisOptions>) => (typeof given === 'string' ? { url: given } : given),
  redisOptions,
);
