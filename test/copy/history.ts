/** A random history of a feed and its CRM: plain data, so that it can be shrunk, printed and kept in a table. */
import fc from 'fast-check';

export type CopyList = 'people' | 'todo';
export type ActName =
  | 'sweep'
  | 'deliver'
  | 'edit'
  | 'create'
  | 'import'
  | 'remove'
  | 'put back'
  | 'mass removal'
  | 'strangers'
  | 'own'
  | 'accept'
  | 'discard'
  | 'pause'
  | 'resume'
  | 'skip'
  | 'refuse'
  | 'retry dead'
  | 'drop dead'
  | 'backup'
  | 'restore'
  | 'failover'
  | 'snapshot'
  | 'restart'
  | 'erase'
  | 'flurry'
  | 'break page'
  | 'odd record'
  | 'mend'
  | 'pass'
  | 'step';

export interface Act {
  do: ActName;
  list: CopyList;
  /** Which record, which subscription, how much: as the act needs it. */
  n: number;
}

/** How the lists are shown. */
export interface Served {
  /** Records of each list at the start. */
  size: number;
  pageSize: number;
  end: 'null' | 'missing' | 'empty page';
  newest: 'first' | 'last';
  /** Some ids look like what the feed calls rows without an id. */
  oddIds: boolean;
}

export interface History {
  served: Served;
  /** `service`: the lists are also polled, with shortcuts. */
  polling: 'sweeps' | 'service';
  /** One of the receivers is a database. */
  tables: boolean;
  acts: readonly Act[];
}

/** Acts that mean something together, with others in between. Those of one phrase are about one list, and often about one record. */
const PHRASES: readonly (readonly ActName[])[] = [
  ...([['edit', 'sweep'], ['create', 'sweep'], ['remove', 'sweep', 'sweep', 'put back', 'sweep'], ['flurry']] as const),
  ...([
    ['mass removal', 'sweep', 'accept'],
    ['mass removal', 'sweep', 'sweep', 'discard', 'sweep'],
  ] as const),
  ...([
    ['import', 'sweep', 'accept', 'sweep'],
    ['import', 'sweep', 'discard', 'sweep'],
    ['import', 'sweep'],
  ] as const),
  ...([
    ['strangers', 'sweep', 'sweep', 'own', 'sweep'],
    ['strangers', 'sweep', 'accept', 'sweep', 'own'],
  ] as const),
  ...([
    ['pause', 'remove', 'sweep', 'sweep', 'restart', 'resume', 'snapshot'],
    ['pause', 'edit', 'sweep'],
  ] as const),
  ...([
    ['pause', 'snapshot', 'deliver', 'skip', 'resume'],
    ['pause', 'edit', 'sweep', 'skip', 'resume'],
  ] as const),
  ...([
    ['refuse', 'edit', 'sweep', 'deliver', 'retry dead'],
    ['refuse', 'snapshot', 'deliver', 'drop dead'],
  ] as const),
  ...([
    ['backup', 'create', 'sweep', 'restore'],
    ['backup', 'remove', 'sweep', 'sweep', 'failover', 'sweep'],
  ] as const),
  ...([
    ['backup', 'import', 'sweep', 'accept', 'sweep', 'deliver', 'restore'],
    ['backup', 'failover'],
  ] as const),
  ...([['snapshot'], ['restart'], ['erase', 'sweep'], ['pass', 'sweep'], ['step', 'sweep'], ['deliver']] as const),
  ...([
    ['break page', 'sweep', 'mend'],
    ['odd record', 'sweep', 'sweep', 'mend', 'sweep'],
  ] as const),
];
const ALONE = [...new Set(PHRASES.flat())];

const list = fc.constantFrom<CopyList>('people', 'todo');
const single: fc.Arbitrary<Act> = fc.record({ do: fc.constantFrom(...ALONE), list, n: fc.nat(999) });
const phrase: fc.Arbitrary<Act[]> = fc
  .tuple(fc.constantFrom(...PHRASES), list, fc.nat(999))
  .chain(([names, about, n]) =>
    fc.tuple(
      ...names.map((name) =>
        fc
          .option(single, { freq: 4 })
          .map((other): Act[] => [...(other === null ? [] : [other]), { do: name, list: about, n }]),
      ),
    ),
  )
  .map((acts) => acts.flat());

const histories: fc.Arbitrary<History> = fc.record({
  served: fc.record({
    size: fc.constantFrom(24, 30, 40),
    pageSize: fc.constantFrom(7, 20, 50),
    end: fc.constantFrom('null', 'missing', 'empty page'),
    newest: fc.constantFrom('first', 'last'),
    oddIds: fc.constantFrom(false, false, false, true),
  }),
  polling: fc.constantFrom('sweeps', 'sweeps', 'service'),
  tables: fc.constantFrom(false, false, true),
  acts: fc.array(phrase, { minLength: 1, maxLength: 3, size: 'max' }).map((phrases) => phrases.flat()),
});

export function historyOf(seed: number): History {
  return fc.sample(histories, { seed, numRuns: 1, unbiased: true })[0]!;
}
