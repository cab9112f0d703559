/**
 * A history too long to be stored: of a row, only a digest of its key is kept (store/rows.ts). So a row has one event, when it is
 * new, and is never changed or removed.
 */
import type { Observation } from '../detect/build-event.js';
import type { Membership, Step } from '../store/sweep-state.js';
import { FeedList, type ShownRecords } from './list.js';

export class RowList extends FeedList {
  override readonly form = { recognisedOnly: true } as const;

  /** Found again, in whatever epoch, a row is the same event again. */
  override observation(): Observation {
    return { ...super.observation(), epoch: 0 };
  }

  override async digests(shown: readonly { key: string; digest: string }[]): Promise<(string | null)[]> {
    const keys = shown.map(({ key }) => key);
    const recognised = await this.deps.store.recognised(this.name, keys);
    return shown.map(({ digest }, index) => (recognised[index] === true ? digest : null));
  }

  /** The page of a row is not kept. */
  override members(): Promise<{ before: readonly string[]; isSame: boolean }> {
    return Promise.resolve({ before: [], isSame: true });
  }

  override membershipChange(): Promise<Membership> {
    return Promise.resolve({ before: new Map(), changed: new Map(), missing: new Map() });
  }

  /** The keys that a walk has seen may be too many to remember: a row that stands on two pages counts twice. */
  override saw(): void {}

  /**
   * Rows that were committed are recognised, so a row that is written is new. Rows that are recognised may be those of earlier sweeps: they count
   * as new until the walk has shown as many rows as are stored. A checkpoint has that number, so it is known after a crash.
   */
  override showsNew({ reached: { counts }, writes }: ShownRecords): boolean {
    return writes.length > 0 || counts.held > this.checkpoint.counts.held || counts.seen <= this.schema.rows;
  }

  override async commit(step: Step): Promise<void> {
    await super.commit({ ...step, writes: step.writes.map(({ key, event }) => ({ key, state: null, event })) });
  }
}
