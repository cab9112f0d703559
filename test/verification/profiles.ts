/**
 * Runs the detector against every profile of the sandbox and prints the table of scores (`npm run verify:profiles`).
 * Exits 1 when a sound profile is not perfect, 3 when a run failed, so that nothing is decided: on a machine that is so busy that Redis does not
 * answer within 15 s. Options:
 * --seed N, --rounds N, --only name,name, --with fault,fault, --plain (only sweeps, no shortcuts and hints),
 * --verbose (what was missed, and what invented), --crossed
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { openRedis } from '../../src/redis/private/open.js';
import { messageOf } from '../../src/kit/errors.js';
import { silentLog } from '../../src/kit/log.js';
import { PROFILES } from '../../sandbox/faults/profiles.js';
import { crossed } from './crossed.js';
import { isPerfect, runProfile } from './run-profile.js';

const { values } = parseArgs({
  options: {
    seed: { type: 'string', default: '1' },
    rounds: { type: 'string', default: '6' },
    only: { type: 'string' },
    with: { type: 'string' },
    plain: { type: 'boolean', default: false },
    crossed: { type: 'boolean', default: false },
    verbose: { type: 'boolean', default: false },
  },
});
const only = values.only?.split(',');
const stateDir = await mkdtemp(join(tmpdir(), 'changefeed-verify-'));
const redis = await openRedis({ stateDir, log: silentLog });

const percent = (share: number): string => `${Math.round(share * 1_000) / 10} %`;
const seconds = (ms: number | null): string => (ms === null ? '—' : `${(ms / 1_000).toFixed(1)} s`);

const [seed, rounds] = [Number(values.seed), Number(values.rounds)];
const say = (text: string): void => void process.stdout.write(text);
let undecided = 0;
try {
  const failed = values.crossed ? await crossed({ seed, rounds, redisUrl: redis.url, only, say }) : await one();
  process.exitCode = failed > 0 ? 1 : undecided > 0 ? 3 : 0;
} finally {
  await redis.close();
  await rm(stateDir, { recursive: true, force: true });
}

async function one(): Promise<number> {
  process.stdout.write(
    '| profile | | sweeps complete / incomplete | expected | recall | false events | order violations | repeated | delay p50 / p99 / max |\n|---|---|---|---|---|---|---|---|---|\n',
  );
  let failed = 0;
  for (const { name, sound } of PROFILES.filter(({ name }) => only?.includes(name) ?? true)) {
    const result = await runProfile({
      profile: name,
      faults: values.with?.split(',') ?? [],
      seed,
      rounds,
      mutationsPerRound: 25,
      plain: values.plain,
      redisUrl: redis.url,
      prefix: `verify-${name}`,
    }).catch((error: unknown) => messageOf(error));
    if (typeof result === 'string') {
      undecided += 1;
      process.stdout.write(`| ${name} | not decided: ${result} |\n`);
      continue;
    }
    const { score } = result;
    if (sound && !isPerfect(result)) failed += 1;
    const { p50, p99, max } = score.delay;
    const cells = [
      name,
      sound ? 'sound' : 'unsound',
      `${result.complete} / ${result.incomplete}`,
      score.expected,
      percent(score.recall),
      score.falseEvents,
      score.orderViolations + score.sequenceGaps,
      score.repeated,
      `${seconds(p50)} / ${seconds(p99)} / ${seconds(max)}`,
    ];
    process.stdout.write(`| ${cells.join(' | ')} |\n`);
    if (values.verbose)
      for (const one of [...score.missed, ...score.inventions]) process.stderr.write(`${JSON.stringify(one)}\n`);
  }
  return failed;
}
