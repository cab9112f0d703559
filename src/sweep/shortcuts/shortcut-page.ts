/** A page that is read outside the order of a walk, and what is known when its answer has come. */
import type { Page } from '../../api/read-api.js';
import type { SweepDeps, SweepOptions } from '../options.js';
import type { SweepMemory } from '../walk/start-sweep.js';
import type { Checkpoint, FencingToken, ListState, SweepStore } from '../store.js';
import type { ShortcutStore } from './store.js';

export interface ShortcutPage {
  kind: 'tail' | 'aimed';
  /** The number that the page had in the last complete sweep, or would have behind its last page. */
  page: number;
  cursor: string | null;
  /** The named records to be found on the page. */
  ids: readonly string[];
  /** The changes that it is expected to show (plan.ts). The most valuable page of all lists is requested first. */
  value: (nowMs: number) => number;
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
  /** The list answers kept cursors with its pages as they are now (plan.ts). */
  isLive: boolean;
  token: FencingToken;
  state: ListState;
  /** Of the walk under way; null between two walks. */
  checkpoint: Checkpoint | null;
  /** Of the walk under way; null: read from the store where it is needed. */
  memory: SweepMemory | null;
}
