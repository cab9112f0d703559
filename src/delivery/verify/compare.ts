/** Compares one record of a copy with what is stored of it, and says what can be judged of a list. Pure. */
import { compileTypes, type Selection } from '../../events/pattern.js';
import { isBeforeEpoch } from '../../events/envelope.js';
import type { RecordState } from '../../feed/store/list-states.js';
import type { Subscription } from '../handlers/handler.js';

/** A record of a copy. */
export interface HeldRecord {
  sequence: number;
  /** The receiver knows that it is gone. */
  deleted: boolean;
}

/**
 * `differs`: the copy has it with another sequence. `undecided`: the last sweeps did not show it, and its removal waits.
 * `absent`: neither has it.
 */
export type Comparison = 'equal' | 'differs' | 'missing' | 'extra' | 'undecided' | 'absent';

/** @param held null: the copy does not have it @param stored null: nothing is stored of it */
export function compareRecord(
  held: HeldRecord | null,
  stored: Pick<RecordState, 'is' | 'sequence'> | null,
): Comparison {
  const has = held !== null && !held.deleted;
  if (stored === null || stored.is === 'gone' || stored.is === 'discarded') return has ? 'extra' : 'absent';
  if (stored.is === 'missing') return has ? 'undecided' : 'absent';
  if (!has) return 'missing';
  if (held.sequence === stored.sequence) return 'equal';
  // A snapshot after a loss sends the last sequence before its epoch, which is above what is stored.
  return held.sequence > stored.sequence && isBeforeEpoch(held.sequence) ? 'equal' : 'differs';
}

/** Why a list cannot be judged in whole. */
export type Doubt = 'on' | 'class' | 'fields' | 'from' | 'notFrom' | 'where' | 'off' | 'rows' | 'waiting' | 'receipts';

export interface Judgement {
  /** What the receiver should have, by its ids. */
  presence: boolean;
  /** Whether it should have the last state of each. */
  state: boolean;
  because: readonly Doubt[];
}

/** The options that leave events out: of all of a record (`presence`), or of its changes. */
const LEAVES_OUT: Readonly<Record<'class' | 'fields' | 'from' | 'notFrom' | 'where', 'presence' | 'state'>> = {
  class: 'presence',
  fields: 'state',
  from: 'presence',
  notFrom: 'presence',
  where: 'presence',
};

/** @param is of the list @param hasContents the copy says what it has of a record */
export function judgementOf(
  subscription: Selection & Pick<Subscription, 'settle' | 'receipts'>,
  { object, is, hasContents }: { object: string; is: 'off' | 'rows' | 'waiting' | 'ready'; hasContents: boolean },
): Judgement {
  if (is !== 'ready') return { presence: false, state: false, because: [is] };
  const selects = compileTypes(subscription);
  const [created, updated, deleted] = ['created', 'updated', 'deleted'].map((verb) => selects(`crm.${object}.${verb}`));
  const doubts = (Object.keys(LEAVES_OUT) as (keyof typeof LEAVES_OUT)[]).filter(
    (option) => subscription[option] !== undefined,
  );
  // Changes that cancel each other out are not sent. Only their receipts say so, and the contents.
  const isUnsaid = subscription.settle !== undefined && subscription.receipts == null && !hasContents;
  const presence = created === true && deleted === true && doubts.every((one) => LEAVES_OUT[one] !== 'presence');
  return {
    presence,
    state: presence && updated === true && doubts.length === 0 && !isUnsaid,
    because: [
      ...(created === true && updated === true && deleted === true ? [] : ['on' as const]),
      ...doubts,
      ...(isUnsaid ? ['receipts' as const] : []),
    ],
  };
}
