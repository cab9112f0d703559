/** Reads what the API shows with an independent client, so that no product code is involved in the expectation. */
import { descriptorOf, LIST_NAMES, type BuiltInList } from '../../src/crm/lists/lists.js';

export type Image = Record<string, unknown> & { id: string };
export type Shown = Record<BuiltInList, Map<string, Image>>;

export async function readEverything({ url, token }: { url: string; token: string }): Promise<Shown> {
  const shown = await Promise.all(
    LIST_NAMES.map(async (list) => [list, await readList({ url, token }, list)] as const),
  );
  return Object.fromEntries(shown) as Shown;
}

async function readList(
  { url, token }: { url: string; token: string },
  list: BuiltInList,
): Promise<Map<string, Image>> {
  const records = new Map<string, Image>();
  let cursor: string | null = null;
  do {
    const query: string = cursor === null ? '' : `?cursor=${encodeURIComponent(cursor)}`;
    const answer: Response = await fetch(`${url}/${descriptorOf(list).path}${query}`, {
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    });
    const { data } = (await answer.json()) as { data: Record<string, unknown> };
    for (const record of Object.values(data).find(Array.isArray) as Image[]) records.set(record.id, record);
    cursor = (data['nextCursor'] ?? null) as string | null;
  } while (cursor !== null);
  return records;
}

const STAMPS = ['수정 날짜', 'updatedAt'];

export interface Difference {
  list: BuiltInList;
  id: string;
  before: Image | null;
  after: Image | null;
  /** Names of the fields that differ, except timestamps. */
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

function differingFields(old: Image, now: Image): string[] {
  const names = new Set([...Object.keys(old), ...Object.keys(now)]);
  const differing = [...names].filter((name) => JSON.stringify(old[name]) !== JSON.stringify(now[name]));
  return differing.filter((name) => !STAMPS.includes(name)).sort();
}
