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
  | 'rule on'
  | 'rule off'
  | 'rule stalls'
  | 'break page'
  | 'odd record'
  | 'mend'
  | 'pass'
  | 'step'
  | 'kill';

export interface Act {
  do: ActName;
  list: CopyList;
  /** Which record, which subscription, how much: as the act needs it. */
  n: number;
}

/** How the lists are shown. */
export interface Served {
  /** Records at the start of the list that most acts are about. The other one has a few. */
  size: number;
  most: CopyList;
  pageSize: number;
  end: 'null' | 'missing' | 'empty page';
  newest: 'first' | 'last';
  /** Some ids look like what the feed calls rows without an id. */
  oddIds: boolean;
}

export interface History {
  served: Served;
  /** `service`: the lists are also polled, with shortcuts. `processes`: the same by two processes of their own. */
  polling: 'sweeps' | 'service' | 'processes';
  /** A receiver beside the one that gets each event: one that merges changes (`settle`), the tables of `postgres`, or a rule. */
  second: 'none' | 'settled' | 'tables' | 'rule';
  acts: readonly Act[];
}

/** Acts that mean something together, with others in between. Those of one phrase are about one list, and often about one record. */
const PHRASES = [
  'edit, sweep',
  'create, sweep',
  'remove, sweep, sweep, put back, sweep',
  'flurry',
  'mass removal, sweep, accept',
  'mass removal, sweep, sweep, discard, sweep',
  'mass removal, sweep, sweep, discard, sweep, snapshot, deliver',
  'import, sweep, accept, sweep',
  'import, sweep, discard, sweep',
  'import, sweep',
  'strangers, sweep, sweep, own, sweep',
  'strangers, sweep, accept, sweep, own',
  'pause, edit, sweep',
  'edit, sweep, pause, remove, sweep, sweep, restart, sweep, resume, snapshot',
  'pause, snapshot, deliver, skip, resume',
  'pause, edit, sweep, skip, resume',
  'refuse, edit, sweep, deliver, retry dead',
  'refuse, snapshot, deliver, drop dead',
  'backup, create, sweep, restore',
  'backup, remove, sweep, sweep, failover, sweep',
  'backup, import, sweep, accept, sweep, deliver, restore',
  'backup, failover',
  'snapshot',
  'restart',
  'erase, sweep',
  'pass, sweep',
  'step, sweep',
  'deliver',
  'break page, sweep, mend',
  'odd record, sweep, sweep, mend, sweep',
  'rule on, edit, sweep, deliver, rule off, edit, sweep, rule on, sweep, deliver',
  'rule on, rule stalls, edit, sweep, rule off, deliver, rule on, deliver',
].map((names) => names.split(', ') as ActName[]);
const ALONE = [...new Set(PHRASES.flat())];

type Draft = Omit<Act, 'list'> & { isOther: boolean };

const n = fc.nat(999);
const isOther = fc.constantFrom(false, false, false, true);
const single: fc.Arbitrary<Draft> = fc.record({ do: fc.constantFrom(...ALONE), isOther, n });
const phrase: fc.Arbitrary<Draft[]> = fc
  .record({ names: fc.constantFrom(...PHRASES), isOther: fc.constantFrom(false, false, false, false, false, true), n })
  .chain(({ names, ...about }) =>
    fc.tuple(
      ...names.map((name) =>
        fc
          .option(single, { freq: 5 })
          .map((other): Draft[] => [...(other === null ? [] : [other]), { do: name, ...about }]),
      ),
    ),
  )
  .map((acts) => acts.flat());

const histories: fc.Arbitrary<History> = fc
  .record({
    served: fc.record({
      size: fc.constantFrom(22, 30),
      most: fc.constantFrom('people', 'todo'),
      pageSize: fc.constantFrom(7, 20, 50),
      end: fc.constantFrom('null', 'missing', 'empty page'),
      newest: fc.constantFrom('first', 'last'),
      oddIds: fc.constantFrom(false, false, false, true),
    }),
    // Locks and leases of what is killed last half a minute: few histories have two processes.
    polling: fc.oneof(
      { weight: 16, arbitrary: fc.constant('sweeps' as const) },
      { weight: 8, arbitrary: fc.constant('service' as const) },
      { weight: 1, arbitrary: fc.constant('processes' as const) },
    ),
    kills: fc.array(fc.record({ before: fc.nat(999), n }), { minLength: 1, maxLength: 2 }),
    second: fc.constantFrom('none', 'settled', 'tables'),
    phrases: fc.array(phrase, { minLength: 1, maxLength: 2, size: 'max' }),
  })
  .map(({ phrases, kills, ...history }) => {
    const { most } = history.served;
    const other = most === 'people' ? 'todo' : 'people';
    const acts = phrases
      .flat()
      .map(({ isOther: isAside, ...act }) => ({ ...act, list: isAside ? other : most }) as const);
    if (history.polling === 'processes' || history.second === 'tables')
      for (const { before, n: nth } of kills)
        acts.splice(before % (acts.length + 1), 0, { do: 'kill', list: most, n: nth });
    const isAboutRules = acts.some((one) => one.do === 'rule on');
    return { ...history, ...(isAboutRules && { second: 'rule' as const }), acts };
  });

export function historyOf(seed: number): History {
  return fc.sample(histories, { seed, numRuns: 1, unbiased: true })[0]!;
}
