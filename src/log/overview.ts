/** What changed in some days, in numbers, beside the same number of days before: by day and kind, by person in charge, by field. Pure. */
import { z } from 'zod';
import type { Counted } from './day-counts.js';

const count = z.number().int();
const date = z.string().describe('such as 2026-11-29, in the time zone of the workspace');
const compared = { count, before: count.describe('in as many days before') };

const overviewOfWorkspace = z.strictObject({
  workspace: z.string(),
  timeZone: z.string(),
  logFrom: z.string().nullable().describe('ISO 8601: since when the log has the events themselves; null: it has none'),
  days: z.array(
    z.strictObject({
      date,
      types: z
        .record(z.string(), count)
        .describe('edits by event type; what the system changed alone is not among them'),
    }),
  ),
  types: z.array(z.strictObject({ type: z.string(), ...compared })),
  owners: z
    .array(z.strictObject({ id: z.string().describe('"": nobody is in charge'), name: z.string(), ...compared }))
    .describe('whose records were edited; the 50 with most'),
  fields: z
    .array(z.strictObject({ object: z.string(), field: z.string(), ...compared }))
    .describe('which fields were edited; the 50 with most'),
});

export const overview = z.strictObject({
  at: z.string().describe('ISO 8601, UTC'),
  workspaces: z.array(overviewOfWorkspace),
});
export type Overview = z.output<typeof overview>;
export type WorkspaceOverview = Overview['workspaces'][number];

const MOST = 50;
type Day = ReadonlyMap<Counted, number>;

/** @param days the days of the period and their counts, in their order; `before`: those of the days before */
export function overviewOf({
  dates,
  days,
  before,
}: {
  dates: readonly string[];
  days: readonly Day[];
  before: readonly Day[];
}) {
  const [now, then] = [summed(days), summed(before)];
  const rows = (kind: Counted[0]) =>
    [...new Set([...now.keys(), ...then.keys()])].flatMap((key) => {
      const [what, first, second] = JSON.parse(key) as Counted;
      return what === kind ? [{ first, second, count: now.get(key) ?? 0, before: then.get(key) ?? 0 }] : [];
    });
  const edits = rows('event').filter(({ second }) => second === 'edited');
  return {
    days: days.map((day, index) => ({ date: dates[index] ?? '', types: typesOf(day) })),
    types: edits.map(({ first: type, count: many, before: earlier }) => ({ type, count: many, before: earlier })),
    owners: ownersOf(rows('owner')),
    fields: most(rows('field')).map(({ first: object, second: field, ...counts }) => ({ object, field, ...counts })),
  };
}

interface Row {
  first: string;
  second: string;
  count: number;
  before: number;
}

const most = <One extends { count: number; before: number }>(rows: readonly One[]): One[] =>
  [...rows].sort((one, other) => other.count - one.count || other.before - one.before).slice(0, MOST);

/** A person may be called otherwise meanwhile. */
function ownersOf(rows: readonly Row[]) {
  const owners = new Map<string, { id: string; name: string; count: number; before: number }>();
  for (const { first: id, second: name, ...counts } of rows) {
    const known = owners.get(id);
    if (known === undefined) owners.set(id, { id, name, ...counts });
    else
      owners.set(id, {
        id,
        // The name without events in the period is the former one. An id stands where a row named nobody.
        name: known.name === id || (known.count === 0 && counts.count > 0) ? name : known.name,
        count: known.count + counts.count,
        before: known.before + counts.before,
      });
  }
  return most([...owners.values()]);
}

function typesOf(day: Day): Record<string, number> {
  return Object.fromEntries(
    [...day].flatMap(([[what, type, changeClass], many]) =>
      what === 'event' && changeClass === 'edited' ? [[type, many]] : [],
    ),
  );
}

function summed(days: readonly Day[]): Map<string, number> {
  const sum = new Map<string, number>();
  for (const day of days)
    for (const [what, many] of day) sum.set(JSON.stringify(what), (sum.get(JSON.stringify(what)) ?? 0) + many);
  return sum;
}
