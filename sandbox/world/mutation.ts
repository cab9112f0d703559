/** The changes that a mutation of the workspace made. */
import type { CrmRecord } from '../../src/crm/record.js';
import type { Ref } from './directory.js';
import type { Actor } from './facts.js';
import type { SandboxListName } from './lists.js';

export interface RecordChange {
  readonly list: SandboxListName;
  readonly index: number;
  readonly id: string;
  /** Null: the record did not exist. */
  readonly before: CrmRecord | null;
  /** Null: the record was removed. */
  readonly after: CrmRecord | null;
  /** False if only derived values changed: a counter, a latest note. */
  readonly direct: boolean;
  /** The number of the mutation that led to `before`; 0 for an initial record. */
  readonly previous: number;
}

export interface Mutation {
  /** 1, 2, 3 … */
  readonly number: number;
  /** `complete-todo`, `merge-people` … */
  readonly kind: string;
  /** ms */
  readonly at: number;
  /** Who made it. */
  readonly by: Actor;
  readonly changes: readonly RecordChange[];
}

export interface Rename {
  readonly at: number;
  readonly before: Ref;
  readonly after: Ref;
}
