/**
 * The detector against one profile of the sandbox: a baseline, rounds of life and sweeps, then quiet sweeps until all that
 * can be seen has been seen; scored against the sandbox's journal. Meanwhile the service runs with all shortcuts, and gets hints of
 * all kinds: right, unknown, far too many, and meant to do harm.
 */
import type { Changefeed } from '../../src/actions/feed.js';
import { openChangefeed } from '../../src/service/changefeed.js';
import { parseConfig } from '../../src/config/parse.js';
import type { Behaviour } from '../../sandbox/faults/behaviour.js';
import { profileNamed } from '../../sandbox/faults/profiles.js';
import { LIST_NAMES } from '../../src/crm/lists/lists.js';
import { createSandbox } from '../../sandbox/sandbox.js';
import type { JournalLine } from '../../sandbox/journal/lines.js';
import { scoreEvents, type MissedChange, type Score } from '../../sandbox/verify/score.js';
import { fastClock } from '../support/fast-clock.js';

export interface ProfileRun {
  profile: string;
  faults?: readonly string[];
  seed: number;
  redisUrl: string;
  prefix: string;
  rounds: number;
  mutationsPerRound: number;
  /** From this round (0, 1 …) on, the sandbox behaves otherwise. @defaultValue no change */
  midRun?: readonly Partial<Behaviour>[];
  /** Only sweeps that are asked for: no service, no shortcuts, no hints. @defaultValue false */
  plain?: boolean | undefined;
}

export interface ProfileScore {
  profile: string;
  complete: number;
  incomplete: number;
  score: Score;
  /** Of the missed changes, those whose result lasted: no later change of the record followed. */
  missedLasting: number;
}

/** Removals after the last change need a second and a third complete sweep. */
const QUIET_SWEEPS = 3;
/** Where answers fail so often that few sweeps complete. */
const MOST_QUIET_SWEEPS = 12;
/** On the fast clock: two of these pauses are longer than `removals.after`. */
const SWEEPS_APART_MS = 20_000;
const SIZES = { people: 60, history: 80, activity: 80 };
const HISTORIES = { people_history: true, organization_history: true, lead_history: true };
/** Shortcuts read several pages for each of the walk, and each page brings changes: a list would grow faster than it is walked. */
const CHURN_UNTIL = 1_500;
/** Waits of minutes (backoff, rate limits) become seconds. */
const FACTOR = 40;
const LIMITS = ['tight-limit', 'foreign-client'];

/**
 * The part of the changes that may be missed beside shortcuts while the workspace changes with every page. An answer that comes too late, or that
 * may be old, is dropped, and a state that no other answer showed is then not known.
 */
const PASSING = 0.005;

export function isPerfect({ score, missedLasting }: ProfileScore): boolean {
  const wrong = score.falseEvents + score.orderViolations + score.sequenceGaps + score.repeated + score.actors.wrong;
  return missedLasting === 0 && score.recall >= 1 - PASSING && wrong === 0;
}

export async function runProfile({
  profile,
  faults = [],
  seed,
  redisUrl,
  prefix,
  rounds,
  mutationsPerRound,
  midRun = [],
  plain = false,
}: ProfileRun): Promise<ProfileScore> {
  const clock = fastClock(FACTOR);
  const about: readonly string[] = [...profileNamed(profile).faults, ...faults];
  // Redis keeps the pause after a 429 in real seconds, so the limit is on only in profiles that test it.
  const limit = about.some((fault) => LIMITS.includes(fault)) ? {} : { limit: null };
  const sandbox = createSandbox({ ...SIZES, ...limit, seed, profile, faults, clock, journalKeep: 1_000_000 });
  const { url, token } = await sandbox.start();
  const budget = { requests: 100_000, perSeconds: 1 };
  // Where each page that is read brings changes, each change would bring rows, and the rows pages.
  const lists = about.includes('churn') ? {} : HISTORIES;
  const raw = { workspaces: [{ name: 'verify', baseUrl: url, token, budget, lists }], redis: { prefix } };
  const feed = await openChangefeed({ config: parseConfig(raw, { source: 'verification', redisUrl }), clock });
  const counts = { complete: 0, incomplete: 0 };
  const sweepOnce = async (): Promise<readonly string[]> => {
    const results = await feed.sweep();
    for (const result of results) {
      counts[result.outcome] += 1;
      // In such a small workspace an ordinary hour can be a mass removal; an operator would accept it.
      if (result.outcome === 'complete' && result.summary.held !== undefined) await feed.lists.accept(result.list);
    }
    return results.flatMap(({ list, outcome }) => (outcome === 'complete' ? [list] : []));
  };
  try {
    await sweepOnce();
    if (!plain) {
      sandbox.behave({ churnUntil: CHURN_UNTIL });
      await feed.start(['poll']);
    }
    for (let round = 0; round < rounds; round++) {
      const before = sandbox.journal.lines().length;
      const changed = midRun[round];
      if (changed !== undefined) sandbox.behave(changed);
      sandbox.step(mutationsPerRound);
      if (!plain) await hint(feed, sandbox.journal.lines().slice(before));
      await sweepOnce();
    }
    await sweepOnce();
    await sweepOnce();
    // Some faults change the workspace during every sweep, so the last changes may still be undecided.
    const until = clock.now();
    const completed = new Map<string, number>(LIST_NAMES.map((list) => [list, 0]));
    for (let quiet = 0; quiet < MOST_QUIET_SWEEPS && Math.min(...completed.values()) < QUIET_SWEEPS; quiet++) {
      await clock.sleep(SWEEPS_APART_MS);
      for (const list of await sweepOnce()) completed.set(list, (completed.get(list) ?? 0) + 1);
    }
    const events = [];
    for await (const { event } of feed.tail({ from: '0', follow: false })) events.push(event);
    const journal = sandbox.journal.lines();
    const score = scoreEvents({ journal, events, until });
    const passed = (missed: MissedChange): boolean =>
      !plain && (isChangedLater(journal, missed) || isOfUnseen(missed, score.missed));
    return { profile, ...counts, score, missedLasting: score.missed.filter((missed) => !passed(missed)).length };
  } finally {
    await feed.stop();
    await sandbox.stop();
  }
}

function isChangedLater(journal: readonly JournalLine[], { list, id, visibleAt }: MissedChange): boolean {
  return journal.some(
    (line) => line.line === 'mutation' && line.list === list && line.id === id && line.at > visibleAt,
  );
}

/** The removal of a record whose creation was missed too: it came and went between two complete sweeps. */
function isOfUnseen({ list, id, verb }: MissedChange, all: readonly MissedChange[]): boolean {
  return verb === 'deleted' && all.some((one) => one.list === list && one.id === id && one.verb === 'created');
}

async function hint(feed: Changefeed, changes: readonly JournalLine[]): Promise<void> {
  const unknown = Array.from({ length: 900 }, (_, nth) => `unknown-${nth}`);
  const hostile = ['__proto__', 'p 1', 'u x', '<script>', 'é'.repeat(200)];
  for (const list of LIST_NAMES) {
    const changed = changes.flatMap((line) => ('list' in line && line.list === list && 'id' in line ? [line.id] : []));
    await feed.hint(list, [...changed.slice(0, 50), ...unknown, ...hostile]);
  }
}
