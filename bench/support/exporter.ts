/** Reads a list as of a time in a process of its own, so that time and memory are those of the export. */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { Redis } from 'ioredis';
import { recordsAsOf } from '../../src/feed/history/as-of.js';
import { createSweepStore } from '../../src/feed/store/sweep-store.js';
import { Keys } from '../../src/redis/keys.js';

interface Export {
  url: string;
  prefix: string;
  workspace: string;
  list: string;
  atMs: number;
}

/** `restMb`: of the process before the export; `peakMb`: at the most. */
interface ExportTimes {
  rows: number;
  firstMs: number;
  ms: number;
  restMb: number;
  peakMb: number;
}

const ownFile = fileURLToPath(import.meta.url);

export async function exportApart(call: Export): Promise<ExportTimes> {
  const child = fork(ownFile, [JSON.stringify(call)]);
  const [times] = (await once(child, 'message')) as [ExportTimes];
  return times;
}

async function exportHere({ url, prefix, workspace, list, atMs }: Export): Promise<ExportTimes> {
  const redis = new Redis(url);
  const store = createSweepStore(redis, new Keys(prefix), workspace);
  await redis.ping();
  const restMb = Math.round(process.memoryUsage.rss() / 1_048_576);
  const startedAt = performance.now();
  let [rows, firstMs, bytes] = [0, 0, 0];
  for await (const record of recordsAsOf(store, { list, atMs })) {
    if (rows === 0) firstMs = Math.round(performance.now() - startedAt);
    rows += 1;
    bytes += JSON.stringify(record).length;
  }
  const ms = Math.round(performance.now() - startedAt);
  redis.disconnect();
  if (bytes === 0) throw new Error('The export had no rows.');
  return { rows, firstMs, ms, restMb, peakMb: Math.round(process.resourceUsage().maxRSS / 1_024) };
}

if (process.argv[1] === ownFile) {
  const times = await exportHere(JSON.parse(process.argv[2] ?? '') as Export);
  process.send?.(times, () => process.disconnect());
}
