/** The commands by the headings of `--help`, in its order, with their descriptions. */
import { extname } from 'node:path';
import type { DefineCommand } from './command.js';

export const COMMANDS: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  'The service:': {
    init: 'write a configuration, a first handler, .env and .gitignore into this folder',
    start: 'run the service until it is stopped',
    sweep: 'one complete sweep of each list, its events handled, and a summary',
  },
  'Reading:': {
    tail: 'follow the log of events',
    listen: 'post each event, signed, to a program on your machine; the service does not notice',
    status: 'problems, lists, freshness, budget, queues, dead letters, processes',
    doctor: 'check token, API, Redis, clocks, disk and the targets of handlers; each finding with what to do',
    todos: 'todos: open, due today, overdue, completed; in total, per person in charge, per team',
  },
  'Deliveries:': {
    deliveries: 'who got an event, when, after how many attempts, with what answer',
    dead: 'dead letters: events whose attempts are used up',
    try: 'what a subscription would have got, and why not the rest; nothing is sent',
    replay: 'send a range of the log to one subscription again',
    pause: 'pause a subscription: its events wait',
    resume: 'resume it where it stopped',
    skip: 'drop everything that waits for a subscription',
    subscriptions: 'what is stored of subscriptions; forget one that is no longer configured',
    webhook: 'webhook test <subscription>: send one test event to any handler',
  },
  'Lists:': {
    explain: 'why a record did or did not yield events',
    schema: 'the fields seen in each list, their value types, and on how many rows',
    held: 'what waits until a person accepts it, and why',
    accept: 'let held removals and new records of a list through',
    discard: 'forget what a list holds: it is not reported',
    resync: 'drop the baseline of lists: their next sweep makes no events',
    forget: 'delete all stored data of a workspace',
  },
  'The sandbox:': {
    demo: 'watch a synthetic workspace; needs no configuration',
    sandbox: 'serve the list endpoints from a synthetic workspace',
  },
};

/** The former names of commands. */
export const RENAMED: Readonly<Record<string, string>> = { disable: 'pause', enable: 'resume' };

/** Commands that have no file of their own. */
const FILE_OF: Readonly<Record<string, string>> = {
  ...{ accept: 'held', discard: 'held', resync: 'held' },
  ...{ pause: 'subscriptions', resume: 'subscriptions', skip: 'subscriptions' },
};

/** Loaded on use: most load the whole service, and `--version` and `--help` must not wait for it. */
export async function loadCommand(name: string): Promise<DefineCommand> {
  const file = new URL(`./commands/${FILE_OF[name] ?? name}${extname(import.meta.url)}`, import.meta.url);
  const { [name]: define } = (await import(file.href)) as Record<string, DefineCommand>;
  if (define === undefined) throw new Error(`${file.pathname} exports no ${name}.`);
  return define;
}
