/** The commands by the headings of `--help`, in its order, with their descriptions. */
import { existsSync } from 'node:fs';
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
    audit: 'who did what: decisions, refusals, sign-ins',
    workspaces: 'workspaces that come and go while the service runs: put, rotate, pause, resume, remove, list',
    invite: 'let a colleague sign in to the status page by a link; "invite list", "invite revoke"',
    usage: 'what each workspace used, by day: requests, rows, events, deliveries, bytes',
    doctor: 'check the token, each list, Redis and the targets of handlers; each finding with what to do',
    mcp: 'let an assistant ask: tools by the Model Context Protocol on standard input and output',
    todos: 'todos: open, due today, overdue, completed; in total, per person in charge, per team; or one by one',
  },
  'Deliveries:': {
    deliveries: 'who got an event, when, after how many attempts, with what answer',
    dead: 'dead letters: events whose attempts are used up',
    try: 'what a subscription would have got, and why not the rest; nothing is sent',
    verify: "compare a receiver's copy with what the CRM showed last; --repair sends what is wrong again",
    rules: 'the rules that are made on the page; "rules check" for a pipeline',
    replay: 'send a range of the log to one subscription again; "replay stop" stops it',
    snapshot: 'send a subscription every record as it is now, after a backup was restored',
    pause: 'pause a subscription: its events wait',
    resume: 'resume it where it stopped',
    skip: 'drop everything that waits for a subscription',
    subscriptions: 'what a subscription gets and what is stored of it; forget one that is no longer configured',
    webhook: 'webhook test <subscription>: send one test event to any handler',
  },
  'Lists:': {
    explain: 'why a record did or did not yield events',
    history: 'the changes of a record, newest first: from what to what, when, by whom',
    export: 'a list as it is, or as it was at a time, for a spreadsheet or a program',
    'restore-plan': 'what would have to be set back to undo the changes of a period; nothing is written',
    schema: 'the fields seen in each list, their value types, and on how many rows',
    held: 'what waits until a person accepts it, and why',
    accept: 'let held removals and new records of a list through',
    discard: 'forget what a list holds: it is not reported',
    mute: 'say nothing more of a record in the messages of a subscription',
    unmute: 'say something of a muted record again',
    muted: 'the records of which a subscription says nothing',
    snooze: 'say nothing of a record that is unchanged until a moment, and then once more',
    resync: 'drop the baseline of lists: their next sweep makes no events',
    erase: 'erase one record and everything that is kept of it',
    forget: 'delete all stored data of a workspace',
  },
  'The sandbox:': {
    demo: 'watch a synthetic workspace; needs no configuration',
    sandbox: 'serve the list endpoints from a synthetic workspace; "sandbox set" makes one chosen edit',
  },
  'Your shell:': {
    completion: 'complete commands and options with the Tab key: bash, zsh, fish',
  },
};

/** Shown below the help of a command. */
export const EXAMPLES: Readonly<Record<string, readonly string[]>> = {
  init: ['init', 'init --workspace acme --lists people_history,organization_history --yes'],
  start: ['start', 'start --only poll,dispatch'],
  sweep: ['sweep', 'sweep people todo --timeout 10m --json'],
  tail: ["tail --from 2026-03-01 --type 'crm.todo.*'", 'tail --json --from beginning --no-follow > events.ndjson'],
  listen: [
    "listen --forward-to http://localhost:3000/hook --on 'crm.todo.*'",
    'listen --forward-to http://localhost:3000/hook --last 1h',
  ],
  status: ['status --watch', 'status --check --json'],
  invite: ['invite 김영업 --role read', 'invite list', 'invite revoke 김영업'],
  workspaces: ['workspaces put acme --file acme.json', 'workspaces rotate acme', 'workspaces remove acme --now'],
  audit: ['audit --since 7d', 'audit --what skip --json'],
  usage: ['usage --days 7', 'usage --csv > usage.csv'],
  doctor: ['doctor'],
  mcp: ['mcp', 'mcp --allow-acting'],
  todos: ['todos --since 7d', 'todos --list overdue --owner 김영업 --csv > late.csv'],
  deliveries: [
    'deliveries --subscription billing --outcome failed',
    'deliveries --record people 0190b3c4-7f2e-7c1d-9a51-4f',
  ],
  dead: ['dead list --subscription billing', 'dead retry --all --reason ECONNREFUSED'],
  try: ['try billing --last 30d', 'try billing --record todo 0190b3c4-7f2e-7c1d-9a51-4f'],
  verify: ['verify mirror', 'verify billing --copy rows.csv --repair'],
  rules: ['rules', 'rules check', 'rules forget-missing'],
  replay: ['replay billing 2h --dry-run', 'replay stop billing'],
  snapshot: ['snapshot billing'],
  pause: ["pause billing --reason 'a new release'"],
  resume: ['resume billing'],
  skip: ['skip billing --dry-run'],
  subscriptions: ['subscriptions list', 'subscriptions show billing', 'subscriptions forget billing'],
  webhook: ['webhook test billing', 'webhook test billing --type crm.todo.completed'],
  explain: ['explain todo 0190b3c4-7f2e-7c1d-9a51-4f'],
  history: ['history people 0190b3c4-7f2e-7c1d-9a51-4f'],
  export: ['export deal --as-of 2026-09-30T18:00+09:00 --csv > deals.csv', 'export people --fields 이름,담당자'],
  'restore-plan': [
    "restore-plan people --from '2026-09-30T09:00' --to '2026-09-30T12:00' --by workflow --csv > plan.csv",
  ],
  schema: ['schema people', 'schema --types -o records.d.ts'],
  held: ['held'],
  accept: ['accept people'],
  discard: ['discard people'],
  mute: [
    'mute sales people 0190b3c4-7f2e-7c1d-9a51-4f --until 1d',
    'mute rule-overdue todo 0190b3c4-7f2e-7c1d-9a51-4f',
  ],
  unmute: ['unmute sales people 0190b3c4-7f2e-7c1d-9a51-4f'],
  muted: ['muted sales'],
  snooze: ['snooze deal 0190b3c4-7f2e-7c1d-9a51-4f 3d'],
  resync: ['resync people organization --dry-run'],
  erase: ['erase people 0190b3c4-7f2e-7c1d-9a51-4f --dry-run'],
  forget: ['forget acme'],
  demo: ['demo', 'demo --people 1000 --rate 5'],
  sandbox: [
    'sandbox --people 200 --rate 2 --control 4011',
    'sandbox --profile list',
    'sandbox set people 0190b3c4-7f2e-7c1d-9a51-4f 등급=A',
  ],
  completion: [
    'completion bash >> ~/.bashrc',
    'completion zsh >> ~/.zshrc',
    'completion fish > ~/.config/fish/completions/changefeed.fish',
  ],
};

/** Loaded on use: most load the whole service, and `--version` and `--help` must not wait for it. */
export async function loadCommand(name: string): Promise<DefineCommand> {
  const file = new URL(`./commands/${name}${extname(import.meta.url)}`, import.meta.url);
  // What prints a table has a file.
  if (!existsSync(file)) return (await import('./action-command.js')).commandsNamed(name);
  const { [name]: define } = (await import(file.href)) as Record<string, DefineCommand>;
  if (define === undefined) throw new Error(`${file.pathname} exports no ${name}.`);
  return define;
}
