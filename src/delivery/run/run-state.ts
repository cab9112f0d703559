/** What the steps of a run hand to each other, and how a run ends. */
import type { Tally } from '../../kit/tally.js';
import type { Delivery } from '../deliveries.js';
import type { FailedAttempt, Wait } from '../failure.js';
import type { Claim, GroupEntry, HeadJob } from '../groups/gate.js';
import type { Noted, Skipped } from '../receipts/note.js';
import type { GivenRun, NoTurn, RunOptions } from './run.js';

export interface RunContext extends RunOptions {
  addJob: (head: HeadJob) => Promise<void>;
  tallies: Tallies;
}

export type Tallies = Record<'overtaken' | 'lost', Tally>;

export interface ClaimedRun extends GivenRun {
  claim: Claim;
  /** Where its event is. */
  kind: GroupEntry['kind'];
  /** 1 for the first attempt. */
  attempt: number;
  beganMs: number;
}

export interface Run extends ClaimedRun {
  delivery: Delivery;
}

/** `about`: what its receipt names. */
export type Outcome =
  | {
      outcome: 'delivered';
      about: Noted;
      attempt: number;
      ms: number;
      status: number | undefined;
      words?: string | undefined;
    }
  | { outcome: 'skipped'; about: Noted; why: Skipped }
  | { outcome: 'dead'; about: Delivery; failure: FailedAttempt }
  | ({ outcome: 'retry'; about: Noted; failure: FailedAttempt; isHeld: boolean } & Wait)
  | { outcome: 'paused'; about: Noted; failure: FailedAttempt }
  | NoTurn
  | { outcome: 'waits'; waitMs: number }
  /** `death`: it was written before. */
  | { outcome: 'left'; next: GroupEntry | null; death?: FailedAttempt };
