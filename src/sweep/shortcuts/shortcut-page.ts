/** A page that is read outside the order of a walk, and what is known when its answer has come. */
import type { Page } from '../../api/read-api.js';
import type { SweepDeps, SweepOptions } from '../options.js';
import type { SweepMemory } from '../start-sweep.js';
import type { Checkpoint, FencingToken, ListState, SweepStore } from '../store.js';
import type { ShortcutStore } from './store.js';

export interface ShortcutPage {
  kind: 'tail' | 'aimed';
  /** The number that the page had in the last complete sweep, or would have behind its last page. */
  page: number;
  cursor: string | null;
  /** The records to be found on the page. Empty for `tail`. */
  ids: readonly string[];
  /** What it is worth among others of its kind, above 0 and at most 1: they share a part of the request budget. */
  weight: number;
  /**
   * Its cursor was kept for so long that the server may answer with the page as it was. Only what is certainly newer is committed,
   * unless the page shows that it is not old.
   */
  doubtful?: true;
  /** The page follows one that overlapped with the known records, so it may show new records only. */
  follows?: true;
}

export interface ShortcutDeps extends Omit<SweepDeps, 'api' | 'store'> {
  store: Pick<SweepStore, 'commit' | 'digests' | 'records' | 'members' | 'walkedMembers' | 'schema'> &
    Pick<ShortcutStore, 'createdByShortcuts'>;
}

export type ShortcutOptions = Pick<
  SweepOptions,
  'list' | 'rules' | 'images' | 'creations' | 'epoch' | 'recordsPerPart'
>;

export interface ShortcutAnswer {
  shortcut: ShortcutPage;
  answer: Page;
  /** When the request was sent, ms since the epoch. */
  askedAtMs: number;
  /** Keys of records that this process has committed since. */
  overtaken?: ReadonlySet<string> | undefined;
  token: FencingToken;
  state: ListState;
  /** Of the walk under way; null between two walks. */
  checkpoint: Checkpoint | null;
  /** Of the walk under way; null: read from the store where it is needed. */
  memory: SweepMemory | null;
}
