/**
 * The detector against one profile of the sandbox: a baseline, rounds of life and sweeps, then quiet sweeps until all that
 * can be seen has been seen; scored against the sandbox's journal.
 */
import { openChangefeed } from '../../src/app.js';
import { parseConfig } from '../../src/config/parse.js';
import { createSandbox } from '../../src/server/sandbox/sandbox.js';
import { scoreEvents, type Score } from '../../src/server/verify/score.js';
import { fastClock } from '../support/fast-clock.js';

export interface ProfileRun {
  profile: string;
  seed: number;
  redisUrl: string;
  prefix: string;
  /** Rounds of life, each followed by a sweep of every list. */
  rounds: number;
  mutationsPerRound: number;
}

export interface ProfileScore {
  profile: string;
  /** Sweeps that completed, and that were reported as incomplete. */
  complete: number;
  incomplete: number;
  score: Score;
}

/** What is still undecided after the last change (a removal, a stale answer) needs a second and a third look. */
const QUIET_SWEEPS = 3;
/** On the fast clock: a record seen for the first time a moment ago is not yet believed to be gone. */
const SWEEPS_APART_MS = 12_000;
const SIZES = { people: 60, history: 80, activity: 80 };
/** Waits of minutes (backoff, rate limits) become seconds. */
const FACTOR = 40;

export async function runProfile({
  profile,
  seed,
  redisUrl,
  prefix,
  rounds,
  mutationsPerRound,
}: ProfileRun): Promise<ProfileScore> {
  const clock = fastClock(FACTOR);
  const sandbox = createSandbox({ ...SIZES, seed, profile, clock, journalKeep: 1_000_000 });
  const { url, token } = await sandbox.start();
  const budget = { requests: 100_000, perSeconds: 1 };
  const raw = { workspaces: [{ name: 'verify', baseUrl: url, token, budget }], redis: { prefix } };
  const feed = await openChangefeed({ config: parseConfig(raw, { source: 'verification', redisUrl }), clock });
  const counts = { complete: 0, incomplete: 0 };
  const look = async (): Promise<void> => {
    for (const { outcome } of await feed.sweep()) counts[outcome] += 1;
  };
  try {
    await look();
    for (let round = 0; round < rounds; round++) {
      sandbox.step(mutationsPerRound);
      await look();
    }
    await look();
    await look();
    // Some faults change the workspace under every sweep, these included: what came last may still be undecided.
    const until = clock.now();
    for (let quiet = 0; quiet < QUIET_SWEEPS; quiet++) {
      await clock.sleep(SWEEPS_APART_MS);
      await look();
    }
    const events = [];
    for await (const { event } of feed.tail({ from: '0', follow: false })) events.push(event);
    return { profile, ...counts, score: scoreEvents({ journal: sandbox.journal.lines(), events, until }) };
  } finally {
    await feed.stop();
    await sandbox.stop();
  }
}
