/**
 * Compares a run with the sandbox's journal and describes what is wrong. Independent of the detector's comparison: the
 * sandbox's world is the truth, and `verify` decides whether two records are equal.
 */
import { movesBetween } from '../../src/feed/detect/schema-drift/schema.js';
import { compileRules } from '../../src/feed/detect/rules.js';
import { TrackedFields, addToDelta, schemaFrom } from '../../src/feed/detect/schema-drift/schema.js';
import type { CrmRecord } from '../../src/crm/record.js';
import type { ChangeEvent } from '../../src/events/types.js';
import { DRIFT_FIELDS } from '../../sandbox/faults/rendering.js';
import type { MutationLine } from '../../sandbox/journal/lines.js';
import type { JudgedEvent } from '../../sandbox/verify/read.js';
import { contentText, type Equality } from '../../sandbox/verify/equality.js';
import { scoreEvents } from '../../sandbox/verify/score.js';
import { parseStored } from '../../src/feed/list/records.js';
import { RULE_SETS } from './rule-sets.js';
import type { CompleteSweep, RunRecord } from './run-record.js';

/** For this long a deleted record that is shown again as it was is left alone. Includes a margin. */
const LEFT_ALONE_MS = 660_000;

export function violations(run: RunRecord): string[] {
  const sound = [...run.unexpected, ...logViolations(run), ...stateViolations(run)];
  return run.scenario.withoutIds
    ? [...sound, ...rowViolations(run)]
    : [...sound, ...journalViolations(run), ...removalViolations(run)];
}

// The log alone: order, ids, no duplicates.

function logViolations({ events, intended }: RunRecord): string[] {
  const found: string[] = [];
  const ids = new Set<string>();
  const sequences = new Map<string, number>();
  for (const { id, type, subject, data } of events) {
    if (ids.has(id)) found.push(`${type} ${subject}: ${id} is in the log twice`);
    ids.add(id);
    const due = (sequences.get(subject) ?? 0) + 1;
    if (data.sequence !== due) found.push(`${type} ${subject}: sequence ${data.sequence} where ${due} was due`);
    sequences.set(subject, data.sequence);
  }
  // Two processes that find the same change, the first of which died, must give it the same id.
  const idOf = new Map<string, string>();
  for (const { event, shown } of intended) {
    const { type, subject, data } = event;
    const content =
      data.schema ?? (data.after === null ? null : contentText(shown, { ignore: new Set(), refNames: 'compared' }));
    const change = JSON.stringify([type, subject, data.sequence, content]);
    const before = idOf.get(change);
    if (before !== undefined && before !== event.id) found.push(`${type} ${subject}: one change, two ids`);
    idOf.set(change, event.id);
  }
  return found;
}

// The state in Redis against itself and against the world, after the last sweep.

function stateViolations({ scenario, events, end }: RunRecord): string[] {
  const { truth, records, membership, stored, schema } = end;
  const found: string[] = [];
  if (stored.checkpoint !== null) found.push('a checkpoint is left');
  if (membership.changed.size > 0) found.push('members of an unfinished sweep are left');
  if (membership.missing.size > 0) found.push(`${membership.missing.size} records are still missing`);
  const reported = new Map<string, number>();
  for (const { subject } of events) reported.set(subject, (reported.get(subject) ?? 0) + 1);
  for (const [key, { sequence }] of records) {
    if (sequence !== (reported.get(key) ?? 0))
      found.push(`${key}: ${reported.get(key) ?? 0} events, but sequence ${sequence}`);
  }
  if (!scenario.withoutIds) {
    const present = [...records].filter(([, { gone }]) => gone === undefined).map(([key]) => key);
    found.push(...differences('stored records', present, [...truth.keys()]));
    found.push(...differences('members', [...new Set([...membership.before.values()].flat())], [...truth.keys()]));
    for (const [id, record] of truth) {
      const image = records.get(id)?.image;
      const compared: Equality = { ignore: new Set(), refNames: 'compared' };
      if (
        typeof image === 'string' &&
        contentText(JSON.parse(image) as CrmRecord, compared) !== contentText(record, compared)
      )
        found.push(`${id}: the image is not what the list shows`);
    }
  }
  if (JSON.stringify(tallyOf(scenario, records)) !== JSON.stringify(sorted(schema.rows, schema.fields)))
    found.push('the tally of the schema is not that of the records');
  return found;
}

function differences(what: string, found: readonly string[], expected: readonly string[]): string[] {
  const [have, want] = [new Set(found), new Set(expected)];
  const tooFew = expected.filter((one) => !have.has(one));
  const tooMany = found.filter((one) => !want.has(one));
  return tooFew.length + tooMany.length === 0 ? [] : [`${what}: ${tooFew.join()} missing, ${tooMany.join()} too many`];
}

function tallyOf({ list }: RunRecord['scenario'], records: RunRecord['end']['records']): unknown {
  const delta = new Map<string, number>();
  const [rules, tracked] = [compileRules(list), new TrackedFields(schemaFrom([]))];
  for (const state of records.values()) {
    if (state.gone === undefined)
      addToDelta(delta, { moves: movesBetween({}, parseStored(state, rules)?.record ?? {}, rules), rows: 1, tracked });
  }
  const { rows, fields } = schemaFrom(delta);
  return sorted(rows, fields);
}

function sorted(rows: number, fields: ReadonlyMap<string, ReadonlyMap<string, number>>): unknown {
  const entries = [...fields].map(([field, valueTypes]) => [field, [...valueTypes].sort()] as const);
  return [rows, entries.sort(([a], [b]) => (a < b ? -1 : 1))];
}

// The log against the journal: events for everything that complete sweeps could see, and for nothing else.

function journalViolations(run: RunRecord): string[] {
  const sameness: Equality = { ignore: new Set(run.driftedAt.length > 0 ? DRIFT_FIELDS : []), refNames: 'ignored' };
  const lines = mutationsOf(run)
    .map((line) => ({ ...line, before: compared(run, line.before), after: compared(run, line.after) }))
    .filter(({ before, after }) => contentText(before, sameness) !== contentText(after, sameness))
    .map((line) => ({ ...line, visibleAt: line.at }));
  const perRecord = driftPerRecord(run);
  const events = run.events.filter((event) => !perRecord.includes(event)).flatMap((event) => toJudgedEvent(run, event));
  const journal = [...run.journal.filter(({ line }) => line === 'rename' || line === 'rules'), ...lines];
  const { inventions, repeated } = scoreEvents({ journal, events });
  return [
    ...inventions.map(({ type, subject, reason }) => `invented: ${type} ${subject}, ${reason}`),
    ...(repeated > 0 ? [`${repeated} changes reported again`] : []),
    ...missedStates(run, lines, { events, sameness }),
    ...wrongFinalStates(run, { events, sameness }),
  ];
}

/** With fewer rows than this, nothing is taken for a schema change. */
const FEWEST_ROWS = 10;

/**
 * A resumed sweep may see a new schema on its last few rows only, and report it for each of them. This is documented. For more
 * rows it is an invention.
 */
function driftPerRecord({ driftedAt, events }: RunRecord): ChangeEvent[] {
  if (driftedAt.length === 0) return [];
  const reported = events.filter(
    ({ data: { changes } }) => changes.length > 0 && changes.every(({ field }) => DRIFT_FIELDS.includes(field)),
  );
  return reported.length < FEWEST_ROWS ? reported : [];
}

function mutationsOf({ journal, scenario }: RunRecord): MutationLine[] {
  return journal.filter((line): line is MutationLine => line.line === 'mutation' && line.list === scenario.list);
}

/** Empty: it has none. */
function changeTimeOf(record: CrmRecord | null): string {
  const time = record?.['수정 날짜'] ?? record?.['updatedAt'];
  return typeof time === 'string' ? time : '';
}

interface ReportedEvents {
  events: readonly JudgedEvent[];
  sameness: Equality;
}

function missedStates(run: RunRecord, lines: readonly MutationLine[], { events, sameness }: ReportedEvents): string[] {
  // The states that the detector may have stored: several if it is unknown whether a sweep saw the record in between.
  const possibleStates = new Map<string, Set<string | null>>();
  const pastStates = new Map<string, Set<string | null>>();
  const pastTimes = new Map<string, string>();
  return lines.flatMap((line, nth) => {
    const { id } = line;
    const now = contentText(line.after, sameness);
    const first = contentText(line.before, sameness);
    const possible = possibleStates.get(id) ?? new Set([first]);
    const earlier = pastStates.get(id) ?? new Set([first]);
    const next = lines.slice(nth + 1).find((later) => later.id === id);
    const { sweeps: all, baselined } = sweepsOf(run, line, next === undefined ? Infinity : Date.parse(next.at));
    // A sweep that holds creations reports no record that may be new to it. After a person accepts them, the next sweep does.
    const sweeps = possible.has(null) ? all.filter(({ summary }) => summary.counts.held === 0) : all;
    // Whether a removal was accepted before its record reappears depends on several rules, so both are possible. A record that
    // reappears unchanged, or with the time of change that it had, counts as an older answer even in a baseline.
    const lastTime = pastTimes.get(id) ?? changeTimeOf(line.before);
    const isBack = possible.has(null) && (earlier.has(now) || (now !== null && changeTimeOf(line.after) <= lastTime));
    const due = isBack
      ? sweeps.find(({ startedAt }) => startedAt > Date.parse(line.at) + LEFT_ALONE_MS)
      : sweeps[run.driftedAt.length > 0 ? 2 : 0];
    const isSure = now !== null && (due !== undefined || (baselined && !isBack));
    possibleStates.set(id, isSure ? new Set([now]) : new Set([...possible, now]));
    pastStates.set(id, new Set([...earlier, now]));
    pastTimes.set(id, [lastTime, changeTimeOf(line.after)].sort().at(-1) ?? '');
    // A removal waits for confirmation, and a mass removal for a person. It must be reported in the end.
    const until = now === null ? Infinity : (due?.endedAt ?? 0);
    if (due === undefined || possible.has(now) || (now === null && next !== undefined)) return [];
    const isReported = events.some(
      ({ subject, data }) =>
        subject === id &&
        contentText(data.after, sameness) === now &&
        isBetween(data.observedAt, Date.parse(line.at), until),
    );
    return isReported ? [] : [`not reported: ${line.kind} of ${id}`];
  });
}

function isBetween(at: string, from: number, to: number): boolean {
  return from <= Date.parse(at) && Date.parse(at) <= to;
}

function sweepsOf(
  { sweeps, baselines }: RunRecord,
  { at, id }: MutationLine,
  until: number,
): { sweeps: CompleteSweep[]; baselined: boolean } {
  const from = Date.parse(at);
  const throughout = sweeps.filter(
    ({ startedAt, endedAt, hidden }) => startedAt >= from && endedAt <= until && !hidden.has(id),
  );
  const duringBaseline = ({ endedAt }: CompleteSweep): boolean =>
    baselines.some((one) => one.from < endedAt && one.to > from);
  return {
    sweeps: throughout.filter((sweep) => !duringBaseline(sweep)),
    baselined: throughout.some(({ mode }) => mode === 'baseline'),
  };
}

/** The last event of a record must show its final state, unless a baseline stored a later one without an event. */
function wrongFinalStates({ end, baselines, scenario }: RunRecord, { events, sameness }: ReportedEvents): string[] {
  const last = new Map(events.map((event) => [event.subject, event]));
  const baselined = Math.max(...baselines.map(({ to }) => to));
  return [...last].flatMap(([subject, { data, type }]) => {
    if (Date.parse(data.observedAt) < baselined) return [];
    const truth = comparedUnder(scenario, end.truth.get(subject) ?? null);
    return contentText(data.after, sameness) === contentText(truth, sameness)
      ? []
      : [`last event of ${subject}: ${type}, not its final state`];
  });
}

function compared<R extends CrmRecord | null>({ scenario }: RunRecord, record: R): R {
  return comparedUnder(scenario, record) as R;
}

function comparedUnder({ config }: RunRecord['scenario'], record: CrmRecord | null): CrmRecord | null {
  if (record === null) return record;
  const { compares } = RULE_SETS[config.rules];
  return Object.fromEntries(Object.entries(record).filter(([field]) => field === 'id' || compares(field))) as CrmRecord;
}

/** The event as `verify` compares it with the journal; empty for an event that claims no change of content. */
function toJudgedEvent(run: RunRecord, event: ChangeEvent): JudgedEvent[] {
  const { config } = run.scenario;
  const { data, type } = event;
  if (data.schema !== undefined || type.endsWith('.snapshot')) return [];
  // Events of the `touch` rule and of a baseline since a time follow the timestamp, which is no content.
  const isTouch = data.detectedBy === 'timestamp' && (config.rules === 'touch' || config.baseline === 'since');
  if (isTouch && data.changes.length === 0) return [];
  const image = (record: CrmRecord | null): CrmRecord | null => compared(run, record);
  return [{ ...event, data: { ...data, before: image(data.before), after: image(data.after) } }];
}

// Removals: reported only after enough complete sweeps in a row did not show the record.

function removalViolations(run: RunRecord): string[] {
  const { scenario, events, sweeps } = run;
  const { confirm } = scenario.config.removals;
  const mutations = mutationsOf(run);
  const goneDuring = (id: string, sweep: { startedAt: number; endedAt: number }): boolean =>
    mutations.some((line, nth) => {
      if (line.id !== id || line.after !== null || Date.parse(line.at) > sweep.endedAt) return false;
      const back = mutations.slice(nth + 1).find((later) => later.id === id);
      return back === undefined || Date.parse(back.at) > sweep.startedAt;
    });
  return events
    .filter(({ type }) => type.endsWith('.deleted'))
    .flatMap(({ subject, data }) => {
      const earlierSweeps = sweeps.filter(({ endedAt }) => endedAt < Date.parse(data.observedAt));
      const missed = earlierSweeps.slice(-(confirm - 1 || Infinity));
      const isSure =
        confirm === 1 ||
        (missed.length === confirm - 1 &&
          missed.every((sweep) => sweep.hidden.has(subject) || goneDuring(subject, sweep)));
      return isSure ? [] : [`deleted ${subject}: reported before ${confirm} complete sweeps in a row missed it`];
    });
}

// Rows without ids are identified by their content: each is reported exactly once.

function rowViolations(run: RunRecord): string[] {
  const { journal, events, baselines } = run;
  const odd = events.filter(({ type }) => !/\.(created|snapshot)$/.test(type));
  const found = odd.map(({ type, subject }) => `${type} ${subject}: a row without an id can only appear`);
  // A renamed reference changes the content, and so the identity, of its rows.
  if (journal.some(({ line }) => line === 'rename')) return found;
  const content = (row: CrmRecord | null): string | null =>
    contentText(row, { ignore: new Set(['id']), refNames: 'compared' });
  const lines = mutationsOf(run);
  const there = new Set(lines.map(({ after }) => content(after)));
  const reported = new Set(events.map(({ data }) => content(data.after)));
  const baselined = Math.max(...baselines.map(({ to }) => to));
  for (const { type, subject, data } of events) {
    if (type.endsWith('.created') && !there.has(content(data.after))) found.push(`invented: ${type} ${subject}`);
  }
  for (const [nth, { id, kind, at, after }] of lines.entries()) {
    const isLast = !lines.slice(nth + 1).some((later) => later.id === id);
    // By design, the same content on another page is the same row, because pages may overlap.
    const isTwin = lines.slice(0, nth).some((one) => one.id !== id && content(one.after) === content(after));
    if (!isTwin && after !== null && isLast && Date.parse(at) > baselined && !reported.has(content(after)))
      found.push(`not reported: ${kind} of ${id}`);
  }
  return found;
}
