import { expect, it } from 'vitest';
import { ChangefeedError } from '../../src/kit/errors.js';
import { classifyRedisError } from '../../src/redis/errors.js';

const PLACE = 'redis.example:6380';

it.each([
  ['Connection is closed.', 'lost'],
  ['Command timed out', 'lost'],
  ['Reached the max retries per request limit (which is 20). Refer to "maxRetriesPerRequest" option', 'lost'],
  ['Command aborted due to connection close', 'lost'],
  ["Socket timeout. Expecting data, but didn't receive any in 20000ms.", 'lost'],
  ['connect ECONNREFUSED 127.0.0.1:6380', 'lost'],
  ['connect ETIMEDOUT', 'lost'],
  ['read ECONNRESET', 'lost'],
  ['getaddrinfo ENOTFOUND redis.example', 'lost'],
  ["OOM command not allowed when used memory > 'maxmemory'.", 'out of memory'],
  [
    "ERR Error running script: @user_script: 5: -OOM command not allowed when used memory > 'maxmemory'.",
    'out of memory',
  ],
  [
    'MISCONF Redis is configured to save RDB snapshots, but it is currently unable to persist to disk. Commands that may modify the data set are disabled',
    'cannot save',
  ],
  ["READONLY You can't write against a read only replica.", 'read-only'],
  ['LOADING Redis is loading the dataset in memory', 'loading'],
  ["MASTERDOWN Link with MASTER is down and replica-serve-stale-data is set to 'no'.", 'loading'],
  ['BUSY Redis is busy running a script. You can only call SCRIPT KILL or SHUTDOWN NOSAVE.', 'loading'],
  ['NOREPLICAS Not enough good replicas to write.', 'loading'],
  ['CLUSTERDOWN The cluster is down', 'loading'],
  ['NOSCRIPT No matching script. Please use EVAL.', 'lost'],
  ['UNBLOCKED force unblock from blocking operation, instance state changed (master -> replica?)', 'lost'],
  ['write EPIPE', 'lost'],
  ['This socket has been ended by the other party', 'lost'],
  ['Client network socket disconnected before secure TLS connection was established', 'lost'],
  ['EXECABORT Transaction discarded because of previous errors.', 'other'],
  ['NOAUTH Authentication required.', 'other'],
  ['WRONGTYPE Operation against a key holding the wrong kind of value', 'other'],
  ['connect ECONNREFUSED 127.0.0.1:5432', 'other'],
  ['getaddrinfo ENOTFOUND hooks.example', 'other'],
  ['the API at 127.0.0.1:6380 did not answer (ECONNREFUSED)', 'other'],
  ['no luck', 'other'],
] as const)('redis errors: %s is %s', (text, kind) => {
  expect(classifyRedisError(new Error(text), PLACE)).toBe(kind);
  const wrapped = new ChangefeedError('CF_SWEEP_INCOMPLETE', { message: `List "people", page 3. ${text}` });
  expect(classifyRedisError(wrapped, PLACE)).toBe(kind);
});

it('redis errors: a discarded transaction is of the kind of the commands before it', () => {
  const discarded = new Error('EXECABORT Transaction discarded because of previous errors.');
  const errors = ['ERR no luck', 'LOADING Redis is loading the dataset in memory'].map((text) => new Error(text));
  expect(classifyRedisError(Object.assign(discarded, { previousErrors: errors }), PLACE)).toBe('loading');
});

it('redis errors: a value that is not an error is of the kind `other`', () => {
  expect([undefined, null, 7, {}].map((value) => classifyRedisError(value, PLACE))).toEqual(Array(4).fill('other'));
});
