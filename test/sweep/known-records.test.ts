import { describe, expect, it } from 'vitest';
import { createReadApi } from '../../src/api/client.js';
import { isPartlyKnown, type ReadApi } from '../../src/api/read-api.js';
import type { UncheckedRecord } from '../../src/crm/record.js';
import { startApiServer } from '../support/api-server.js';
import type { ListedApi } from '../support/listed.js';
import { useRedis } from '../support/redis.js';
import { sweptList } from '../support/swept-list.js';

const person = (id: string, name = id): UncheckedRecord => ({ id, 이름: name, '최근 작성된 노트': 'x'.repeat(30) });
const PAGE = 6;

/** Serves pages of any records over HTTP. */
async function servedPages() {
  const state = { pages: [[]] as UncheckedRecord[][] };
  const server = await startApiServer(({ url = '' }) => {
    const at = Number(new URL(url, 'http://x').searchParams.get('cursor') ?? 0);
    const nextCursor = at + 1 < state.pages.length ? String(at + 1) : null;
    return { body: { success: true, data: { peopleList: state.pages[at] ?? [], nextCursor } } };
  });
  const budget = { take: () => Promise.resolve(), pause: () => Promise.resolve() };
  const api = createReadApi({ workspace: 'acme', baseUrl: server.baseUrl, token: 't', budget });
  return { state, api, server };
}

/** Counts the records that are recognised; with `recognises: false` every changed page is parsed as a whole. */
function watched(api: ReadApi, { recognises }: { recognises: boolean }) {
  const count = { recognised: 0 };
  const fetchIfChanged: ReadApi['fetchIfChanged'] = async (list, options) => {
    const page = await api.fetchIfChanged(list, recognises ? options : { ...options, knownLayout: undefined });
    if (isPartlyKnown(page)) count.recognised += page.entries.filter((entry) => typeof entry === 'number').length;
    return page;
  };
  return { count, api: { ...api, fetchIfChanged } as ListedApi };
}

describe('known records:', () => {
  const redis = useRedis();

  it('on a changed page, only the changed record is looked up', async () => {
    const { state, api, server } = await servedPages();
    await using _ = server;
    const ids = Array.from({ length: 12 }, (_, n) => `p${String(n).padStart(2, '0')}`);
    const pagesOf = (names: Record<string, string>) => {
      const records = ids.map((id) => person(id, names[id]));
      return [records.slice(0, PAGE), records.slice(PAGE)];
    };
    state.pages = pagesOf({});
    const { api: counted, count } = watched(api, { recognises: true });
    const { sweep, store, eventLines } = sweptList(redis, counted);
    await sweep();
    for (const name of ['changed', 'again', 'back']) {
      state.pages = pagesOf({ p08: name });
      const compared: string[] = [];
      const records: typeof store.records = (list, keys) => (compared.push(...keys), store.records(list, keys));
      const digests: typeof store.digests = (list, keys) => (compared.push(...keys), store.digests(list, keys));
      expect(await sweep({ store: { ...store, digests, records } })).toMatchObject({
        counts: { seen: 12, unchanged: 11, edited: 1 },
      });
      expect(compared).toEqual(['p08']);
    }
    expect(count.recognised).toBe(15);
    expect(await eventLines()).toEqual(['updated p08 1', 'updated p08 2', 'updated p08 3']);
    await api.close();
  });

  it('rows that stand twice, move, come and go yield the same events as pages that are parsed as a whole', async () => {
    const { state, api, server } = await servedPages();
    await using _ = server;
    let seed = 7;
    const random = (below: number): number => {
      seed = (seed * 1_103_515_245 + 12_345) % 2_147_483_648;
      return Math.floor((seed / 2_147_483_648) * below);
    };
    const known = watched(api, { recognises: true });
    const plain = watched(api, { recognises: false });
    const [one, other] = [sweptList(redis, known.api), sweptList(redis, plain.api, 'people', 'plain')];
    let next = 60;
    const records = Array.from({ length: next }, (_, n) => person(`p${String(n).padStart(3, '0')}`));
    for (let round = 0; round < 25; round += 1) {
      for (let act = random(6); act > 0; act -= 1) {
        const at = random(records.length);
        const [kind, id] = [random(6), String(records[at]?.['id'])];
        if (kind <= 2) records[at] = person(id, `이름 ${round} ${act}`);
        else if (kind === 3) records.splice(at, 0, person(`p${String(next++).padStart(3, '0')}`));
        else if (kind === 4) records.splice(at, 1);
        else records.splice(random(records.length), 0, ...records.splice(at, 1));
      }
      const shown = [...records];
      if (random(3) === 0) shown.splice(random(shown.length), 0, shown[random(shown.length)]!);
      state.pages = Array.from({ length: Math.ceil(shown.length / PAGE) }, (_, page) =>
        shown.slice(page * PAGE, page * PAGE + PAGE),
      );
      for (const { sweep } of [one, other]) await sweep();
      expect(await one.eventLines()).toEqual(await other.eventLines());
    }
    expect(known.count.recognised).toBeGreaterThan(100);
    expect(plain.count.recognised).toBe(0);
    await api.close();
  });
});
