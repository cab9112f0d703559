/** The port through which the mirror reads stored records. `state` implements it. */
import type { ListName } from '../../crm/lists/lists.js';

/** How complete and how fresh a list is. */
export interface MirroredList {
  /** ISO 8601: when the first complete sweep ended; null before that. */
  baselineAt: string | null;
  /** ISO 8601: when the last complete sweep ended. */
  completedAt: string | null;
  /** True while a process sweeps the list. */
  sweeping: boolean;
  /** Changes whenever the list may have gained or lost records. */
  version: string;
}

export interface MirrorStore {
  status(list: ListName): Promise<MirroredList>;
  /** The keys of all records of a list, unordered. */
  keys(list: ListName): Promise<string[]>;
  /** The records' JSON as upstream sent it; null for a record that is gone or has no stored image. */
  images(list: ListName, keys: readonly string[]): Promise<(string | null)[]>;
}
