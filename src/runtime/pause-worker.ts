/** A BullMQ worker takes jobs as fast as they fail where Redis takes no writes: it pauses until writes are possible again. */
import type { Worker } from 'bullmq';
import type { RedisUse } from './redis-watch.js';

export function pauseWhileUnwritable(worker: Pick<Worker, 'pause' | 'resume' | 'once'>, watch?: RedisUse): void {
  const stop = watch?.onWritable((isWritable) => {
    // In this process only, and without waiting for the jobs at work. Neither asks Redis.
    void (isWritable ? worker.resume() : worker.pause(true));
  });
  worker.once('closing', () => stop?.());
}
