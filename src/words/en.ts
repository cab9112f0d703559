/**
 * The words that chats, digests, the command line and the page share, in English. `ko.ts` has the same keys. `{name}` is replaced, and
 * `{count|event|events}` is the singular or the plural. The texts of the page alone are in page/text/.
 */
export const en = {
  // Objects, lists, and how many of them.
  'object.person': 'person',
  'object.organization': 'organization',
  'object.memo': 'memo',
  'object.todo': 'todo',
  'object.deal_history': 'deal history',
  'object.person_activity': 'activity',
  'object.person_history': 'person history',
  'object.organization_history': 'organization history',
  'object.lead_history': 'lead history',
  'object.deal': 'deal',
  'object.lead': 'lead',
  'object.feed': 'feed',
  'list.people': 'People',
  'list.organization': 'Organizations',
  'list.memo': 'Memos',
  'list.todo': 'Todos',
  'list.history': 'Deal history',
  'list.activity': 'Activities',
  'list.people_history': 'Person history',
  'list.organization_history': 'Organization history',
  'list.lead_history': 'Lead history',
  'list.deal': 'Deals',
  'list.lead': 'Leads',
  'count.event': '{count} {count|event|events}',
  'count.change': '{count} {count|change|changes}',
  'count.more': '… and {count} more',
  'count.person': '{count} {count|person|people}',
  'count.organization': '{count} {count|organization|organizations}',
  'count.memo': '{count} {count|memo|memos}',
  'count.todo': '{count} {count|todo|todos}',
  'count.deal': '{count} {count|deal|deals}',
  'count.lead': '{count} {count|lead|leads}',
  'count.deal_history': '{count} deal history {count|row|rows}',
  'count.person_activity': '{count} {count|activity|activities}',
  'count.person_history': '{count} person history {count|row|rows}',
  'count.organization_history': '{count} organization history {count|row|rows}',
  'count.lead_history': '{count} lead history {count|row|rows}',

  // What happened, who did it, and how it was noticed.
  'verb.created': 'created',
  'verb.updated': 'updated',
  'verb.deleted': 'deleted',
  'verb.snapshot': 'snapshot',
  'verb.schema_changed': 'schema changed',
  'verb.completed': 'completed',
  'verb.reopened': 'reopened',
  'verb.rescheduled': 'rescheduled',
  'verb.reassigned': 'reassigned',
  'verb.due_soon': 'due soon',
  'verb.overdue': 'overdue',
  'actor.user': 'a person',
  'actor.workflow': 'a workflow',
  'actor.sequence': 'a sequence',
  'actor.api': 'an integration',
  'actor.field': 'the system',
  'detected.timestamp': 'timestamp',
  'detected.content': 'content',
  'detected.both': 'timestamp and content',
  'detected.clock': 'due time',
  'event.due': 'Due: {when}',
  'event.by': 'by {name}',
  'event.open': 'Open',

  // Fields and values.
  'field.person': 'Person in charge',
  'field.team': 'Team',
  'field.due': 'Due',
  'field.actor': 'Changed by',
  'value.yes': 'yes',
  'value.no': 'no',
  'value.none': 'nothing',

  // What became of a delivery.
  'outcome.delivered': 'delivered',
  'outcome.retry': 'to be tried again',
  'outcome.dead': 'dead letter',
  'outcome.skipped': 'skipped',
  'outcome.pending': 'waiting',

  // Times.
  'time.now': 'now',
  'time.ago': '{time} ago',

  // Roles of processes, and what a problem is about.
  'place.subscription': 'subscription',
  'place.role': 'role',
  'place.loop': 'loop',
  'place.workspaces': 'workspaces',
  'part.poll': 'poll',
  'part.dispatch': 'dispatch',
  'part.handle': 'handle',
  'part.serve': 'serve',

  // Digests: one message about a range of the log.
  'digest.title': '{changes} in {workspace}: {types}',
  'digest.type': '{records} {verb}',
  // A record may be updated more than once.
  'digest.updated': '{count} {object} {count|update|updates}',
  'digest.people': 'By person in charge: {people}',
  'digest.person': '{name} {count}',
  'digest.event': '{title} – {object} {verb}',
  'digest.link': 'Open the status page',

  // Todo reports.
  'report.title': 'Todos in {workspace}: {sums}',
  'report.since': '{count} completed since {when}',
  'report.yesterday': 'yesterday {time}',
  'report.completed': '{count} completed',
  'report.overdue': '{count} overdue',
  'report.dueToday': '{count} due today',
  'report.open': '{count} open',
  'report.none': 'Todos in {workspace}: none is stored',
  'report.refused': 'Todos in {workspace}: not counted',
  'todos.strangeDue':
    '{count} todo{s} with a due date that is not understood, such as "{example}": never due. Understood: 2026-03-01 and 2026-03-01T09:00:00Z.',
  'todos.open': 'Open',
  'todos.dueToday': 'Due today',
  'todos.overdue': 'Overdue',
  'todos.completed': 'Completed',
  'todos.rate': 'Completion rate',
  'todos.median': 'Median time',
  'todos.person': 'Person in charge',
  'todos.team': 'Team',
  'todos.nobody': 'no person',
  'todos.noTeam': 'no team',
  'todos.others': 'others',

  // Problems: their titles.
  'all.well': 'All is well',
  'problems.many': '{count} problem{s}',
  'problems.none': 'Nothing needs attention.',
  'problems.since': 'since {when}',
  'severity.error': 'Error',
  'severity.warning': 'Warning',
  'problem.redis.evicts': 'Redis may evict keys',
  'problem.redis.refuses': 'Redis refuses writes',
  'problem.state.lost': 'The state was lost',
  'problem.state.rewound': 'Redis went back to an earlier state',
  'problem.api.away': 'The API does not answer',
  'problem.sweep.failed': 'A sweep failed',
  'problem.source.changed': 'The address or the token leads to other data',
  'problem.token.refused': 'The API refuses the token',
  'problem.list.late': 'A list is late',
  'problem.list.silent': 'A list is unusually silent',
  'problem.list.cut': 'A list may be read only in part',
  'problem.list.restless': 'A field changes on most rows again and again',
  'problem.removals.held': 'Removals are held',
  'problem.creations.held': 'New records are held',
  'problem.subscription.disabled': 'A subscription is paused',
  'problem.subscription.failing': 'A subscription keeps failing',
  'problem.subscription.unconfigured': 'Events wait for subscriptions that are not configured',
  'problem.delivery.late': 'Events have waited for long',
  'problem.delivery.dead': 'Dead letters wait for a decision',
  'problem.role.missing': 'No process has a role that is needed',
  'problem.loop.stalled': 'A part of a process is stuck',
  'problem.loop.failing': 'A part of a process keeps failing',
  'problem.clock.stepped': 'The clock of a machine has stepped',
  'problem.process.overloaded': 'A process has too little processor',
  'problem.problem.over': 'A problem is over',
  'problem.snapshot.complete': 'Every record of a list was sent again',

  // Problems: what is wrong, where, and what to do. `{>why}` is the text that the fact `why` names; a name that ends with `Ms` is a duration, and a
  // time is one that a person reads. The log has the English text.
  'says.redis.evicts':
    'Redis has maxmemory-policy "{policy}" and may evict keys: polling and delivery pause. CONFIG SET maxmemory-policy noeviction, and the same in redis.conf.',
  'says.redis.refuses': 'Redis refuses writes: {>why}.',
  'refused.out of memory': '{error}',
  'refused.cannot save': '{error}',
  'refused.read-only': '{error}',
  'says.state.lost':
    'The state of workspace "{workspace}" was lost in Redis between {seenAt} and {at}. Every list starts with a baseline without events: changes made in between are not reported. Check the persistence of Redis.',
  'says.state.rewound':
    'Workspace "{workspace}": Redis went back to an earlier state. What was written between {from} and {to} may be lost. Events are repeated, sequences go on far higher, and every list is swept again. Check the persistence of Redis.',
  'says.api.away': '{>who}: {error}. No list can be read until it answers; each is tried again at least every 30 s.',
  'away.one': 'Workspace "{workspace}"',
  'away.several': '{count} workspaces, among them "{workspace}"',
  'says.sweep.failed': '{error}',
  'says.source.changed': '{error}',
  'says.token.refused': '{error}',
  'failure.CF_FORBIDDEN': '{error}',
  'failure.CF_RATE_LIMITED': '{error}',
  'failure.CF_UNAVAILABLE': '{error}',
  'failure.CF_REQUEST_REFUSED': '{error}',
  'failure.CF_PAGE_MALFORMED': '{error}',
  'failure.CF_UNAUTHORISED': '{error}',
  'failure.CF_SOURCE_CHANGED': '{error}',
  'says.list.late':
    'Workspace "{workspace}", list "{list}": a sweep has been due for {forMs} and no process has started it. Check whether the polling process is stuck or runs another configuration.',
  'says.list.silent': 'Workspace "{workspace}", list "{list}" {>what}. Check whether the token may still read it.',
  'silent.empty': 'has shown no records for {forMs}',
  'silent.unchanged': 'has not changed for {forMs}',
  'says.list.cut':
    'Workspace "{workspace}", list "{list}": its only page has {count} records, as many as whole pages have, and names no cursor. If the CRM shows more records, the cursor has another name now, and nothing behind the first page is read.',
  'says.list.restless':
    'Workspace "{workspace}", list "{list}": most rows are edited again and again in {fields}. If nobody edits these by hand, name them under "refreshed" or "ignore" of the list.',
  'says.removals.held':
    'Workspace "{workspace}", list "{list}": {>held} Accept them: changefeed accept {list} --workspace {workspace}.',
  'says.creations.held':
    'Workspace "{workspace}", list "{list}": {>held} Accept them: changefeed accept {list} --workspace {workspace}. Take them without events: changefeed resync {list} --workspace {workspace}.',
  'held.removals.too many':
    '{count} of {of} records are missing and their removals are held; this is more than may change at once.',
  'held.removals.replaced':
    '{count} of {of} records are missing and their removals are held; the list shows other records than before.',
  'held.removals.creations':
    '{count} of {of} records are missing and their removals are held; new records are held too, and the list may be another one.',
  'held.creations.too many': '{count} of {of} records are new and are held; this is more than may change at once.',
  'held.creations.replaced':
    '{count} of {of} records are new and are held; only {seen} of {known} known records were seen. Check whether this is the token of another workspace, or a backup was restored.',
  'says.subscription.disabled':
    'Subscription "{name}" has been paused since {since}: {reason} {>waiting} Resume it: changefeed resume {name}.',
  'waiting.all': 'Its events wait.',
  'waiting.some': 'Its events wait, but log.retention has dropped some of them.',
  'says.subscription.failing':
    'Subscription "{name}": all {count} attempts since {since} have failed.{>last} Events are tried again as its "retry" says, then become dead letters (changefeed dead list --subscription {name}).',
  'says.subscription.unreadable': 'Subscription "{name}" cannot be read: {error}',
  'last.error': ' Last error: {error}',
  'says.subscription.unconfigured':
    'No process has these subscriptions in its configuration, and their events are delivered to nobody: {names} ({waiting} waiting, {dead} dead). Give a renamed one its events: changefeed subscriptions rename {name} <new name>. Remove what is left of one: changefeed subscriptions forget {name}.',
  'says.delivery.late':
    'Subscription "{name}": its oldest event has waited since {since}. {count} events wait: {active} are handled now, {queued} are in the queue, {delayed} wait for a retry. {>remedy}',
  'late.paused': 'Its queue is paused: changefeed resume {name}.',
  'late.slow': 'Where handlers are too slow, raise "concurrency", or start further processes with the role "handle".',
  'says.delivery.unread':
    'Subscription "{name}" has not begun to read the log: no process with the role "dispatch" has it in its configuration, or the log of that process says why it cannot begin.',
  'says.delivery.dead':
    'Subscription "{name}": {count} dead {count|letter waits|letters wait} for a decision.{>last} Correct the cause, then: changefeed dead retry --all --subscription {name}; or drop them: changefeed dead drop.',
  'says.role.missing':
    'No process has the role "{role}": {>effect}. Start one: changefeed start --only {role}, or changefeed start for all roles.',
  'effect.poll': 'no list is swept',
  'effect.dispatch': 'no event reaches a queue',
  'effect.handle': 'no handler runs',
  'says.loop.stalled':
    'The loop "{loop}" of process {pid} on {host} has made no progress since {since}. It is started again; if the problem remains, restart the process.',
  'says.loop.failing':
    'The loop "{loop}" of process {pid} on {host} has failed in every turn since {since}, and what it does is not done. It is tried again at least every 30 s. Last error: {error}',
  'says.process.overloaded':
    'Process {pid} on {host} has too little processor for {count} {count|workspace|workspaces}: {lists} lists are due and wait for their turn, the first for {forMs}. Nothing is lost, and changes are noticed late. Start further processes with the role "poll", give it more processor, or set intervals.',
  'says.clock.stepped':
    '{>what} Nothing waits for it. Times of events, due todos and signatures of webhooks follow the clock: keep it right with a time server.',
  'clock.back': 'The clock of process {pid} on {host} was set back by {byMs}.',
  'clock.forward': 'The clock of process {pid} on {host} was set forward by {byMs}, or the machine was suspended.',
  'clock.apart': 'The clock of process {pid} on {host} and that of Redis are {byMs} apart.',
  'clock.here': 'The clock of this machine and that of Redis are {byMs} apart.',
  'clock.future':
    'Workspace "{workspace}", list "{list}": the stored time {time} lies in the future, so a clock was ahead, or is behind now.',
  'says.problem.over': 'Workspace "{workspace}"{place}: {problem} is over, after {forMs}.',
  'says.snapshot.complete':
    'Redis forgot changes, so every record of list "{list}" was sent. A record that you have with a lower sequence than this event is gone.',
} as const;

export type WordKey = keyof typeof en;
