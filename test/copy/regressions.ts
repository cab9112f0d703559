/** Histories that failed in the past, each shrunk: what went wrong, and the acts that showed it. */
import type { Act, ActName, History } from './history.js';

const CALM: Omit<History, 'acts'> = {
  served: { size: 22, most: 'todo', pageSize: 7, end: 'null', newest: 'last', oddIds: false },
  polling: 'sweeps',
  second: 'none',
};

/** All about the todos, and the same record. */
const acts = (...names: ActName[]): Act[] => names.map((name) => ({ do: name, list: 'todo', n: 4 }));

export const REGRESSIONS: readonly { found: string; history: History }[] = [
  {
    found: 'a snapshot after a restore said that records were gone which the guard held',
    history: { ...CALM, acts: acts('backup', 'import', 'sweep', 'accept', 'sweep', 'deliver', 'restore') },
  },
  {
    found: 'a snapshot said that a record was gone whose event was a dead letter',
    history: { ...CALM, acts: acts('refuse', 'snapshot', 'deliver') },
  },
  {
    found: 'a snapshot said that records were gone whose events were skipped',
    history: { ...CALM, acts: acts('pause', 'snapshot', 'sweep', 'skip', 'resume') },
  },
  {
    found: 'todos whose removal was discarded became due',
    history: { ...CALM, acts: acts('mass removal', 'sweep', 'sweep', 'discard', 'sweep') },
  },
  {
    found: 'a snapshot did not repair a removal of its own epoch that the log had dropped',
    history: {
      ...CALM,
      acts: acts('edit', 'sweep', 'pause', 'remove', 'sweep', 'sweep', 'restart', 'sweep', 'resume', 'snapshot'),
    },
  },
  {
    found: 'a running service reported an import that the guard holds',
    history: { ...CALM, polling: 'service', acts: acts('import', 'sweep', 'sweep') },
  },
  {
    found: "a running service reported another workspace's records",
    history: { ...CALM, polling: 'service', acts: acts('strangers', 'sweep', 'own') },
  },
  {
    found: 'a record whose id begins as the key of a row without an id was never missing',
    history: { ...CALM, served: { ...CALM.served, oddIds: true }, acts: acts('mass removal', 'sweep', 'accept') },
  },
  {
    found: "another workspace's records passed because an import of ours was accepted",
    history: { ...CALM, acts: acts('import', 'sweep', 'accept', 'strangers', 'sweep') },
  },
  {
    found: 'discarded removals that a snapshot had said are gone came back without an event',
    history: {
      ...CALM,
      acts: acts('mass removal', 'sweep', 'discard', 'sweep', 'snapshot', 'deliver', 'put back', 'sweep'),
    },
  },
  {
    found: 'a record whose id could not be read any more was reported as deleted',
    history: { ...CALM, acts: [{ do: 'odd record', list: 'todo', n: 312 }, ...acts('sweep', 'sweep')] },
  },
  {
    found: 'what a rule was sending when it was switched off was sent when it was switched on',
    history: {
      ...CALM,
      second: 'rule',
      acts: acts('rule on', 'rule stalls', 'edit', 'sweep', 'rule off', 'deliver', 'rule on', 'deliver'),
    },
  },
  {
    found: 'a rule got what was logged before it was switched on, when Redis went back to before that',
    history: { ...CALM, second: 'rule', acts: acts('edit', 'sweep', 'backup', 'rule on', 'failover') },
  },
  {
    found: 'a rule got what was logged while it was switched off, when a backup of that time was restored',
    history: {
      ...CALM,
      second: 'rule',
      acts: acts('rule on', 'rule off', 'edit', 'sweep', 'backup', 'rule on', 'restore', 'deliver'),
    },
  },
  {
    found: 'a snapshot after a loss took a sweep from before it for a later one, as the clock had been set back',
    history: {
      served: { ...CALM.served, pageSize: 7, most: 'todo' },
      polling: 'service',
      second: 'none',
      acts: [
        ...acts('backup'),
        { do: 'import', list: 'people', n: 686 },
        ...acts('sweep'),
        { do: 'step', list: 'todo', n: 417 },
        ...acts('failover'),
      ],
    },
  },
];
