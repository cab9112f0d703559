/** Compares a copy in a process of its own, as the command does, so that time and memory are those of the comparison. */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { parseConfig } from '../../src/config/parse.js';
import { silentLog } from '../../src/kit/log.js';
import { openChangefeed } from '../../src/service/changefeed.js';

export interface VerifyRun {
  raw: object;
  redisUrl: string;
  /** @defaultValue the tables */
  file?: string | undefined;
}

/** `restMb`: of the process before the comparison; `peakMb`: at the most. */
export interface VerifyTimes {
  wrong: number;
  ms: number;
  cpuMs: number;
  restMb: number;
  peakMb: number;
}

const ownFile = fileURLToPath(import.meta.url);

export async function verifyApart(run: VerifyRun): Promise<VerifyTimes> {
  const child = fork(ownFile, [JSON.stringify(run)]);
  const [times] = (await once(child, 'message')) as [VerifyTimes];
  return times;
}

async function verifyHere({ raw, redisUrl, file }: VerifyRun): Promise<VerifyTimes> {
  const config = parseConfig(raw, { source: 'bench', redisUrl });
  const feed = await openChangefeed({ config, log: silentLog, reportsProblems: false });
  const restMb = Math.round(process.memoryUsage.rss() / 1_048_576);
  const [startedAt, cpu] = [performance.now(), process.cpuUsage()];
  const { wrong } = await feed.verify('mirror', file);
  const { user, system } = process.cpuUsage(cpu);
  const ms = Math.round(performance.now() - startedAt);
  await feed.stop();
  const peakMb = Math.round(process.resourceUsage().maxRSS / 1_024);
  return { wrong, ms, cpuMs: Math.round((user + system) / 1_000), restMb, peakMb };
}

if (process.argv[1] === ownFile) {
  const times = await verifyHere(JSON.parse(process.argv[2] ?? '') as VerifyRun);
  process.send?.(times, () => process.disconnect());
}
