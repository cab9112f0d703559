/**
 * Every combined profile of the sandbox with every fault on top of it (`npm run verify:profiles -- --crossed`): a row per
 * fault, a column per profile; each cell is the score of a separate run.
 */
import { FAULTS, type FaultName } from '../../sandbox/faults/faults.js';
import { PROFILES } from '../../sandbox/faults/profiles.js';
import { isPerfect, runProfile, type ProfileScore } from './run-profile.js';

export interface Crossing {
  seed: number;
  rounds: number;
  redisUrl: string;
  only: readonly string[] | undefined;
  say: (text: string) => void;
}

/** Waits of ten real seconds at every 23rd request, and a request for every record. Each alone is in the other table. */
const TOO_SLOW: readonly string[] = ['rate-limited-bare', 'rate-limited-empty', 'rate-limited-html', 'page-size-1'];
const MUTATIONS_PER_ROUND = 25;

export async function crossed({ seed, rounds, redisUrl, only, say }: Crossing): Promise<number> {
  const profiles = PROFILES.filter(({ name }) => !Object.hasOwn(FAULTS, name));
  const faults = Object.keys(FAULTS).filter(
    (fault) => only?.includes(fault) ?? !TOO_SLOW.includes(fault),
  ) as FaultName[];
  say(`| with | ${profiles.map(({ name }) => name).join(' | ')} |\n|---|${'---|'.repeat(profiles.length)}\n`);
  let failed = 0;
  for (const fault of faults) {
    const cells: string[] = [];
    for (const { name, sound, faults: own } of profiles) {
      if (own.includes(fault)) {
        cells.push('·');
        continue;
      }
      const prefix = `verify-${name}-${fault}`;
      const life = { profile: name, faults: [fault], seed, rounds, mutationsPerRound: MUTATIONS_PER_ROUND };
      const result = await runProfile({ ...life, redisUrl, prefix });
      if (sound && FAULTS[fault].sound && !isPerfect(result)) {
        failed += 1;
        for (const wrong of [...result.score.missed, ...result.score.inventions])
          process.stderr.write(`${name} with ${fault}: ${JSON.stringify(wrong)}\n`);
      }
      cells.push(cellOf(result));
    }
    say(`| ${fault} | ${cells.join(' | ')} |\n`);
  }
  return failed;
}

/** A perfect score is shown as the number of changes to report. */
function cellOf(result: ProfileScore): string {
  const { expected, recall, falseEvents, orderViolations, sequenceGaps, repeated } = result.score;
  if (result.complete === 0) return 'never complete';
  if (isPerfect(result)) return String(expected);
  const wrong = { false: falseEvents, 'out of order': orderViolations + sequenceGaps, repeated };
  const words = Object.entries(wrong).flatMap(([what, count]) => (count === 0 ? [] : [`${count} ${what}`]));
  return [`${Math.floor(recall * 1_000) / 10} % of ${expected}`, ...words].join(', ');
}
