/** Opens the Redis of a state directory and keeps it open until SIGTERM: `redis-owner.ts <state directory>`. */
import { openRedis } from '../../src/redis/private/open.js';
import { silentLog } from '../../src/kit/log.js';

const redis = await openRedis({ stateDir: process.argv[2] ?? '', log: silentLog });
process.stdout.write(`open ${redis.url}\n`);
process.once('SIGTERM', () => {
  void redis.close().then(() => process.exit(0));
});
setInterval(() => undefined, 60_000);
