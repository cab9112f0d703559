/** Repeatedly opens the Redis of a state directory, increments a counter and closes it: `redis-churn.ts <dir> <rounds>`. */
import { Redis } from 'ioredis';
import { openRedis } from '../../src/redis/private/open.js';
import { silentLog } from '../../src/kit/log.js';

const [stateDir = '', rounds = '1'] = process.argv.slice(2);
for (let round = 0; round < Number(rounds); round++) {
  const opened = await openRedis({ stateDir, log: silentLog });
  const redis = new Redis(opened.url, { maxRetriesPerRequest: null });
  redis.on('error', () => undefined);
  await redis.incr('count');
  process.stdout.write('counted\n');
  redis.disconnect();
  await opened.close();
}
