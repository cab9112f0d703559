/** What the API shows, and what differs between two readings of it. */
import { LIST_NAMES, type BuiltInList } from '../../src/crm/lists/lists.js';
import { walkAll, type Fields, type Target } from './read-api.js';

export type Shown = Record<BuiltInList, Map<string, Fields>>;

export async function readEverything(target: Target): Promise<Shown> {
  const lists = Object.entries(await walkAll(target));
  return Object.fromEntries(
    lists.map(([list, records]) => [list, new Map(records.map((record) => [record.id, record]))]),
  ) as Shown;
}

const STAMPS = ['수정 날짜', 'updatedAt'];

export interface Difference {
  list: BuiltInList;
  id: string;
  before: Fields | null;
  after: Fields | null;
  fields: string[];
}

/** Every record that differs between two readings, compared as JSON. Correct only for a server that adds no noise. */
export function differences(before: Shown, after: Shown): Difference[] {
  return LIST_NAMES.flatMap((list) => {
    const ids = new Set([...before[list].keys(), ...after[list].keys()]);
    return [...ids].flatMap((id): Difference[] => {
      const [old = null, now = null] = [before[list].get(id), after[list].get(id)];
      const fields = differingFields(old ?? { id }, now ?? { id });
      const existed = old !== null && now !== null;
      return existed && fields.length === 0
        ? []
        : [{ list, id, before: old, after: now, fields: existed ? fields : [] }];
    });
  });
}

function differingFields(old: Fields, now: Fields): string[] {
  const names = new Set([...Object.keys(old), ...Object.keys(now)]);
  const differing = [...names].filter((name) => JSON.stringify(old[name]) !== JSON.stringify(now[name]));
  return differing.filter((name) => !STAMPS.includes(name)).sort();
}
