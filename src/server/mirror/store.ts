/** What the mirror needs of the detector's memory, as a port: the room that knows Redis implements it. */
import type { ListName } from '../../events/lists.js';

/** How complete and how fresh a list is. */
export interface MirroredList {
  /** ISO 8601; null while the first complete sweep is still to come. */
  baselineAt: string | null;
  /** ISO 8601: when the last complete sweep ended. */
  completedAt: string | null;
  /** A process is sweeping the list at this moment. */
  sweeping: boolean;
  /** Changes whenever the list may have gained or lost records. */
  version: string;
}

export interface MirrorStore {
  look(list: ListName): Promise<MirroredList>;
  /** The keys of all records of a list, in no order. */
  keys(list: ListName): Promise<string[]>;
  /** The records' JSON as upstream sent it; null for one that is gone or of which no image is kept. */
  images(list: ListName, keys: readonly string[]): Promise<(string | null)[]>;
}
