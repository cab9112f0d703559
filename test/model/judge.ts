/**
 * Holds a run against the sandbox's journal, and says in sentences what is wrong with it. Shares nothing with the detector:
 * the truth is what the world says, and when two records say the same is decided by the judge of `verify`.
 */
import { storedValueTypes } from '../../src/detect/stored-record.js';
import { compileRules } from '../../src/detect/rules.js';
import { TrackedFields, addToDelta, schemaFrom } from '../../src/detect/schema-drift/schema.js';
import type { CrmRecord } from '../../src/crm/record.js';
import type { ChangeEvent } from '../../src/events/types.js';
import { DRIFT_FIELDS } from '../../src/sandbox/faults/rendering.js';
import type { MutationLine } from '../../src/sandbox/journal/lines.js';
import type { JudgedEvent } from '../../src/sandbox/verify/read.js';
import { contentText, type Equality } from '../../src/sandbox/verify/equality.js';
import { scoreEvents } from '../../src/sandbox/verify/score.js';
import { parseStored } from '../../src/sweep/classify-record.js';
import { RULE_SETS } from './rule-sets.js';
import type { CompleteSweep, Story } from './story.js';

/** For so long after something was learnt, a replica's lag explains whatever says otherwise; and some more. */
const LAG_MS = 15_000;

/** Everything that is wrong with a run; empty when it is right. */
export function wrongs(story: Story): string[] {
  const sound = [...story.surprises, ...ofTheLog(story), ...ofTheState(story)];
  return story.scenario.withoutIds
    ? [...sound, ...ofRowsWithoutIds(story)]
    : [...sound, ...ofTheTruth(story), ...ofRemovals(story)];
}

// The log alone: order, ids, nothing twice.

function ofTheLog({ events, meant }: Story): string[] {
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
  // Whoever found the same thing before and died of it must have called it the same.
  const said = new Map<string, string>();
  for (const { event, shown } of meant) {
    const { type, subject, data } = event;
    const content =
      data.schema ?? (data.after === null ? null : contentText(shown, { ignore: new Set(), refNames: 'compared' }));
    const change = JSON.stringify([type, subject, data.sequence, content]);
    const before = said.get(change);
    if (before !== undefined && before !== event.id) found.push(`${type} ${subject}: one change, two ids`);
    said.set(change, event.id);
  }
  return found;
}

// Redis against itself and against the world, when all is quiet.

function ofTheState({ scenario, events, end }: Story): string[] {
  const { truth, known, membership, held, stored, schema } = end;
  const found: string[] = [];
  if (stored.checkpoint !== null) found.push('a checkpoint is left');
  if (held.length > 0) found.push(`${held.length} records still wait`);
  if (membership.changed.size > 0) found.push('members of a walk are left');
  if (membership.missing.size > 0) found.push(`${membership.missing.size} records are still missing`);
  const told = new Map<string, number>();
  for (const { subject } of events) told.set(subject, (told.get(subject) ?? 0) + 1);
  for (const [key, { sequence }] of known) {
    if (sequence !== (told.get(key) ?? 0)) found.push(`${key}: ${told.get(key) ?? 0} events, but sequence ${sequence}`);
  }
  if (!scenario.withoutIds) {
    const present = [...known].filter(([, { gone }]) => gone === undefined).map(([key]) => key);
    found.push(...differ('known records', present, [...truth.keys()]));
    found.push(...differ('members', [...new Set([...membership.before.values()].flat())], [...truth.keys()]));
    for (const [id, record] of truth) {
      const image = known.get(id)?.image;
      const compared: Equality = { ignore: new Set(), refNames: 'compared' };
      if (
        typeof image === 'string' &&
        contentText(JSON.parse(image) as CrmRecord, compared) !== contentText(record, compared)
      )
        found.push(`${id}: the image is not what the list shows`);
    }
  }
  if (JSON.stringify(tallyOf(scenario, known)) !== JSON.stringify(sorted(schema.rows, schema.fields)))
    found.push('the tally of the schema is not that of the records');
  return found;
}

function differ(what: string, found: readonly string[], expected: readonly string[]): string[] {
  const [have, want] = [new Set(found), new Set(expected)];
  const tooFew = expected.filter((one) => !have.has(one));
  const tooMany = found.filter((one) => !want.has(one));
  return tooFew.length + tooMany.length === 0 ? [] : [`${what}: ${tooFew.join()} missing, ${tooMany.join()} too many`];
}

function tallyOf({ list }: Story['scenario'], known: Story['end']['known']): unknown {
  const delta = new Map<string, number>();
  const [rules, tracked] = [compileRules(list), new TrackedFields(schemaFrom([]))];
  for (const state of known.values()) {
    if (state.gone === undefined) addToDelta(delta, null, storedValueTypes(parseStored(state), rules), tracked);
  }
  const { rows, fields } = schemaFrom(delta);
  return sorted(rows, fields);
}

function sorted(rows: number, fields: ReadonlyMap<string, ReadonlyMap<string, number>>): unknown {
  const entries = [...fields].map(([field, forms]) => [field, [...forms].sort()] as const);
  return [rows, entries.sort(([a], [b]) => (a < b ? -1 : 1))];
}

// The log against the journal: everything that complete sweeps could see, and nothing else.

function ofTheTruth(story: Story): string[] {
  const sameness: Equality = { ignore: new Set(story.driftedAt.length > 0 ? DRIFT_FIELDS : []), refNames: 'ignored' };
  const lines = mutationsOf(story)
    .map((line) => ({ ...line, before: compared(story, line.before), after: compared(story, line.after) }))
    .filter(({ before, after }) => contentText(before, sameness) !== contentText(after, sameness))
    .map((line) => ({ ...line, visibleAt: line.at }));
  const torn = tellingOfDrift(story);
  const events = story.events.filter((event) => !torn.includes(event)).flatMap((event) => asClaim(story, event));
  const journal = [...story.journal.filter(({ line }) => line === 'rename' || line === 'rules'), ...lines];
  const { inventions, repeated } = scoreEvents({ journal, events });
  return [
    ...inventions.map(({ type, subject, reason }) => `invented: ${type} ${subject}, ${reason}`),
    ...(repeated > 0 ? [`${repeated} changes told again`] : []),
    ...missed(story, lines, { events, sameness }),
    ...untrueEnds(story, { events, sameness }),
  ];
}

/** With fewer rows than this nothing is known to be a change of the schema. */
const FEWEST_ROWS = 10;

/**
 * A sweep that is taken up again may meet a new schema on its last few rows alone, and tell it of each of these. That is
 * documented; of more rows than that, it is an invention.
 */
function tellingOfDrift({ driftedAt, events }: Story): ChangeEvent[] {
  if (driftedAt.length === 0) return [];
  const told = events.filter(
    ({ data: { changes } }) => changes.length > 0 && changes.every(({ field }) => DRIFT_FIELDS.includes(field)),
  );
  return told.length < FEWEST_ROWS ? told : [];
}

function mutationsOf({ journal, scenario }: Story): MutationLine[] {
  return journal.filter((line): line is MutationLine => line.line === 'mutation' && line.list === scenario.list);
}

interface Told {
  events: readonly JudgedEvent[];
  sameness: Equality;
}

/** States that complete sweeps could see, and of which no event tells in time. */
function missed(story: Story, lines: readonly MutationLine[], { events, sameness }: Told): string[] {
  // What the detector may take a record to be: one state, or several where it may have looked in between or not.
  const taken = new Map<string, Set<string | null>>();
  const had = new Map<string, Set<string | null>>();
  return lines.flatMap((line, nth) => {
    const { id } = line;
    const now = contentText(line.after, sameness);
    const first = contentText(line.before, sameness);
    const maybe = taken.get(id) ?? new Set([first]);
    const earlier = had.get(id) ?? new Set([first]);
    const next = lines.slice(nth + 1).find((later) => later.id === id);
    const { looks: all, learnt } = looksAt(story, line, next === undefined ? Infinity : Date.parse(next.at));
    // A sweep that holds new records reports none that may be new to it; once a person accepts them, the next one does.
    const looks = maybe.has(null) ? all.filter(({ summary }) => summary.heldCreations === undefined) : all;
    // What was so before may be an older answer: it needs a second look, and a third where the first found it in doubt.
    const isDoubtful = earlier.has(now) || story.driftedAt.length > 0;
    const due = isDoubtful
      ? looks.slice(2).find(({ startedAt }) => startedAt > Date.parse(line.at) + LAG_MS)
      : looks[0];
    // Whether a removal has been believed by the time its record comes back, several rules decide. One that comes back just as
    // it was is an older answer even to a baseline.
    const isBack = maybe.has(null) && earlier.has(now);
    const isSure = now !== null && (due !== undefined || (learnt && !isBack));
    taken.set(id, isSure ? new Set([now]) : new Set([...maybe, now]));
    had.set(id, new Set([...earlier, now]));
    // A removal waits for confirmation, and for a person when there are many: it must be told in the end.
    const until = now === null ? Infinity : (due?.endedAt ?? 0);
    if (due === undefined || maybe.has(now) || (now === null && next !== undefined)) return [];
    const isTold = events.some(
      ({ subject, data }) =>
        subject === id &&
        contentText(data.after, sameness) === now &&
        isBetween(data.observedAt, Date.parse(line.at), until),
    );
    return isTold ? [] : [`not told: ${line.kind} of ${id}`];
  });
}

function isBetween(at: string, from: number, to: number): boolean {
  return from <= Date.parse(at) && Date.parse(at) <= to;
}

/** The complete sweeps throughout which a state was there to be told of; and whether a baseline has learnt it for sure. */
function looksAt(
  { sweeps, baselines }: Story,
  { at, id }: MutationLine,
  until: number,
): { looks: CompleteSweep[]; learnt: boolean } {
  const from = Date.parse(at);
  const throughout = sweeps.filter(
    ({ startedAt, endedAt, hidden }) => startedAt >= from && endedAt <= until && !hidden.has(id),
  );
  const isLearning = ({ endedAt }: CompleteSweep): boolean =>
    baselines.some((one) => one.from < endedAt && one.to > from);
  return {
    looks: throughout.filter((sweep) => !isLearning(sweep)),
    learnt: throughout.some(({ mode }) => mode === 'baseline'),
  };
}

/** What was told last of a record must be what it is, unless a baseline has passed over what came after. */
function untrueEnds({ end, baselines, scenario }: Story, { events, sameness }: Told): string[] {
  const last = new Map(events.map((event) => [event.subject, event]));
  const learnt = Math.max(...baselines.map(({ to }) => to));
  return [...last].flatMap(([subject, { data, type }]) => {
    if (Date.parse(data.observedAt) < learnt) return [];
    const truth = comparedUnder(scenario, end.truth.get(subject) ?? null);
    return contentText(data.after, sameness) === contentText(truth, sameness)
      ? []
      : [`last told of ${subject}: ${type}, not as it is`];
  });
}

function compared<R extends CrmRecord | null>({ scenario }: Story, record: R): R {
  return comparedUnder(scenario, record) as R;
}

function comparedUnder({ config }: Story['scenario'], record: CrmRecord | null): CrmRecord | null {
  if (record === null) return record;
  const { compares } = RULE_SETS[config.rules];
  return Object.fromEntries(Object.entries(record).filter(([field]) => field === 'id' || compares(field))) as CrmRecord;
}

/** What of an event is held against the journal; nothing of those that claim no change of content. */
function asClaim(story: Story, event: ChangeEvent): JudgedEvent[] {
  const { config } = story.scenario;
  const { data, subject, type } = event;
  if (data.schema !== undefined || type.endsWith('.snapshot')) return [];
  // A stamp that moved alone, and what a baseline tells by the stamp: true by the stamp, which is no content.
  const isTouch = data.detectedBy === 'timestamp' && (config.rules === 'touch' || config.baseline === 'since');
  if (isTouch && data.changes.length === 0) return [];
  const image = (record: CrmRecord | null): CrmRecord | null => compared(story, record);
  if (config.images) return [{ ...event, data: { ...data, before: image(data.before), after: image(data.after) } }];
  const shown = story.meant.find((one) => one.event.id === event.id)?.shown ?? null;
  return [{ ...event, subject, data: { ...data, before: null, after: data.after === null ? null : image(shown) } }];
}

// Removals: not before enough complete sweeps in a row have shown that the record is gone, and none while they are held.

function ofRemovals(story: Story): string[] {
  const { scenario, events, sweeps } = story;
  const { confirm } = scenario.config.removals;
  const deaths = mutationsOf(story);
  const goneDuring = (id: string, sweep: { startedAt: number; endedAt: number }): boolean =>
    deaths.some((line, nth) => {
      if (line.id !== id || line.after !== null || Date.parse(line.at) > sweep.endedAt) return false;
      const back = deaths.slice(nth + 1).find((later) => later.id === id);
      return back === undefined || Date.parse(back.at) > sweep.startedAt;
    });
  return events
    .filter(({ type }) => type.endsWith('.deleted'))
    .flatMap(({ subject, data }) => {
      const looked = sweeps.filter(({ endedAt }) => endedAt < Date.parse(data.observedAt));
      const missed = looked.slice(-(confirm - 1 || Infinity));
      const isSure =
        confirm === 1 ||
        (missed.length === confirm - 1 &&
          missed.every((sweep) => sweep.hidden.has(subject) || goneDuring(subject, sweep)));
      return isSure ? [] : [`deleted ${subject}: told before ${confirm} complete sweeps in a row had missed it`];
    });
}

// Rows without ids are their content: each is told once, and never again.

function ofRowsWithoutIds(story: Story): string[] {
  const { scenario, journal, events, baselines } = story;
  const odd = events.filter(({ type }) => !/\.(created|snapshot)$/.test(type));
  const found = odd.map(({ type, subject }) => `${type} ${subject}: a row without an id can only appear`);
  // Without images events do not say what appeared; and whoever is renamed makes other rows of all that name them.
  if (!scenario.config.images || journal.some(({ line }) => line === 'rename')) return found;
  const content = (row: CrmRecord | null): string | null =>
    contentText(row, { ignore: new Set(['id']), refNames: 'compared' });
  const lines = mutationsOf(story);
  const there = new Set(lines.map(({ after }) => content(after)));
  const told = new Set(events.map(({ data }) => content(data.after)));
  const learnt = Math.max(...baselines.map(({ to }) => to));
  for (const { type, subject, data } of events) {
    if (type.endsWith('.created') && !there.has(content(data.after))) found.push(`invented: ${type} ${subject}`);
  }
  for (const [nth, { id, kind, at, after }] of lines.entries()) {
    const isLast = !lines.slice(nth + 1).some((later) => later.id === id);
    // The same content on another page is taken for the same row seen again, by design: pages may overlap.
    const isTwin = lines.slice(0, nth).some((one) => one.id !== id && content(one.after) === content(after));
    if (!isTwin && after !== null && isLast && Date.parse(at) > learnt && !told.has(content(after)))
      found.push(`not told: ${kind} of ${id}`);
  }
  return found;
}
