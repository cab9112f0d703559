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
/** How many edits there were in some days, beside as many days before. */
export type Overview = z.output<typeof overview>;
export type WorkspaceOverview = Overview['workspaces'][number];

const MOST = 50;
type Day = ReadonlyMap<Counted, number>;

interface Compared {
  count: number;
  before: number;
}

export interface OverviewParts {
  /** The days of the period, in their order, and what was counted on each. */
  dates: readonly string[];
  days: readonly Day[];
  /** The days before. */
  before: readonly Day[];
  /** Whether records of an object count: rows that only tell of other records are no edits of their own. */
  counts: (object: string) => boolean;
}

export function overviewOf({
  dates,
  days,
  before,
  counts,
}: OverviewParts): Omit<WorkspaceOverview, 'workspace' | 'timeZone' | 'logFrom'> {
  const isShown = (what: Counted): boolean =>
    what[0] === 'event' ? what[2] === 'edited' && counts(what[1].split('.')[1] ?? '') : counts(what[1]);
  const all = new Map<string, Compared>();
  const add = (of: readonly Day[], name: keyof Compared): void => {
    for (const day of of)
      for (const [what, many] of day) {
        if (!isShown(what)) continue;
        const key = JSON.stringify(what);
        const known = all.get(key) ?? { count: 0, before: 0 };
        all.set(key, { ...known, [name]: known[name] + many });
      }
  };
  add(days, 'count');
  add(before, 'before');
  const rows = [...all].map(([key, compared]) => ({ what: JSON.parse(key) as Counted, ...compared }));
  return {
    days: days.map((day, index) => ({ date: dates[index] ?? '', types: typesOf(day, isShown) })),
    types: most(rows.flatMap(({ what, ...many }) => (what[0] === 'event' ? [{ type: what[1], ...many }] : []))),
    owners: most(
      ownersOf(
        rows.flatMap(({ what, ...many }) => (what[0] === 'owner' ? [{ id: what[2], name: what[3], ...many }] : [])),
      ),
    ),
    fields: most(
      rows.flatMap(({ what, ...many }) => (what[0] === 'field' ? [{ object: what[1], field: what[2], ...many }] : [])),
    ),
  };
}

const most = <One extends Compared>(rows: readonly One[]): One[] =>
  [...rows].sort((one, other) => other.count - one.count || other.before - one.before).slice(0, MOST);

/** A person has edits in several lists, and may be called otherwise meanwhile: the name of the period counts, and an id is none. */
function ownersOf(rows: readonly WorkspaceOverview['owners'][number][]) {
  const owners = new Map<string, WorkspaceOverview['owners'][number]>();
  for (const { id, name, count: many, before } of rows) {
    const known = owners.get(id) ?? { id, name, count: 0, before: 0 };
    const isBetter = known.name === id || (known.count === 0 && many > 0 && name !== id);
    owners.set(id, {
      id,
      name: isBetter ? name : known.name,
      count: known.count + many,
      before: known.before + before,
    });
  }
  return [...owners.values()];
}

function typesOf(day: Day, isShown: (what: Counted) => boolean): Record<string, number> {
  return Object.fromEntries(
    [...day].flatMap(([what, many]) => (what[0] === 'event' && isShown(what) ? [[what[1], many]] : [])),
  );
}
