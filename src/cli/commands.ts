/**
 * The commands, in the order of `--help`. The module of a command is loaded when the command is used: most of them load the
 * whole service, and `--version`, `--help` and a mistyped command must not wait for it.
 */
import type { DefineCommand } from './command.js';

interface CommandEntry {
  readonly name: string;
  readonly description: string;
  readonly load: () => Promise<DefineCommand>;
}

/** By the headings of `--help`. */
export const COMMANDS: Readonly<Record<string, readonly CommandEntry[]>> = {
  'The service:': [
    {
      name: 'init',
      description: 'write a configuration, a first handler, .env and .gitignore into this folder',
      load: async () => (await import('./commands/init.js')).init,
    },
    {
      name: 'start',
      description: 'run the service until it is stopped',
      load: async () => (await import('./commands/start.js')).start,
    },
    {
      name: 'sweep',
      description: 'one complete sweep of each list, its events handled, and a summary',
      load: async () => (await import('./commands/sweep.js')).sweep,
    },
  ],
  'Reading:': [
    {
      name: 'tail',
      description: 'follow the log of events',
      load: async () => (await import('./commands/tail.js')).tail,
    },
    {
      name: 'status',
      description: 'problems, lists, freshness, budget, queues, dead letters, processes',
      load: async () => (await import('./commands/status.js')).status,
    },
    {
      name: 'doctor',
      description: 'check token, API, Redis, clocks, disk and the targets of handlers; each finding with what to do',
      load: async () => (await import('./commands/doctor.js')).doctor,
    },
    {
      name: 'todos',
      description: 'todos: open, due today, overdue, completed; in total, per person in charge, per team',
      load: async () => (await import('./commands/todos.js')).todos,
    },
  ],
  'Deliveries:': [
    {
      name: 'dead',
      description: 'dead letters: events whose attempts are used up',
      load: async () => (await import('./commands/dead.js')).dead,
    },
    {
      name: 'replay',
      description: 'send a range of the log to one subscription again',
      load: async () => (await import('./commands/replay.js')).replay,
    },
    {
      name: 'disable',
      description: 'pause a subscription: its events wait (Pause on the page)',
      load: async () => (await import('./commands/disable.js')).disable,
    },
    {
      name: 'enable',
      description: 'resume it where it stopped (Resume on the page)',
      load: async () => (await import('./commands/enable.js')).enable,
    },
    {
      name: 'subscriptions',
      description: 'what is stored of subscriptions; forget one that is no longer configured',
      load: async () => (await import('./commands/subscriptions.js')).subscriptions,
    },
    {
      name: 'webhook',
      description: 'webhook test <subscription>: send one signed test event',
      load: async () => (await import('./commands/webhook.js')).webhook,
    },
  ],
  'Lists:': [
    {
      name: 'probe',
      description: 'ask a live API what the interface leaves open; prints no record contents',
      load: async () => (await import('./commands/probe.js')).probe,
    },
    {
      name: 'explain',
      description: 'why a record did or did not yield events',
      load: async () => (await import('./commands/explain.js')).explain,
    },
    {
      name: 'schema',
      description: 'the fields seen in each list, their value types, and on how many rows',
      load: async () => (await import('./commands/schema.js')).schema,
    },
    {
      name: 'rules',
      description: 'rules test <list>: which logged events other rules would have emitted',
      load: async () => (await import('./commands/rules.js')).rules,
    },
    {
      name: 'held',
      description: 'what waits until a person accepts it, and why',
      load: async () => (await import('./commands/held.js')).held,
    },
    {
      name: 'accept',
      description: 'let held removals and new records of a list through',
      load: async () => (await import('./commands/accept.js')).accept,
    },
    {
      name: 'resync',
      description: 'drop the baseline of lists: their next sweep makes no events',
      load: async () => (await import('./commands/resync.js')).resync,
    },
    {
      name: 'forget',
      description: 'delete all stored data of a workspace',
      load: async () => (await import('./commands/forget.js')).forget,
    },
  ],
  'The sandbox:': [
    {
      name: 'demo',
      description: 'watch a synthetic workspace; needs no configuration',
      load: async () => (await import('./commands/demo.js')).demo,
    },
    {
      name: 'sandbox',
      description: 'serve the list endpoints from a synthetic workspace',
      load: async () => (await import('./commands/sandbox.js')).sandbox,
    },
    {
      name: 'verify',
      description: 'score a stream of events against the journal of a sandbox',
      load: async () => (await import('./commands/verify.js')).verify,
    },
  ],
};
