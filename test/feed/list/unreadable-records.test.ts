/** Records that cannot be read: each is named and left as it was, and the list goes on without it. */
import { describe, expect, it } from 'vitest';
import { createReadApi } from '../../../src/feed/api/client.js';
import { silentLog, type Log } from '../../../src/kit/log.js';
import { startApiServer } from '../../support/api-server.js';
import type { ListedApi } from '../../support/listed.js';
import { rowsOfGate } from '../../support/night.js';
import { useRedis } from '../../support/redis.js';
import { sweptList } from '../../support/swept-list.js';

const person = (id: string, more = '1'): string => `{"id":"${id}","이름":"${id}","more":${more}}`;
const nested = (open: string, close: string, levels: number): string =>
  `${open.repeat(levels)}1${close.repeat(levels)}`;
const arrays = (levels: number): string => nested('[', ']', levels);
const objects = (levels: number): string => nested('{"a":', '}', levels);

describe('unreadable records:', () => {
  const redis = useRedis();

  const open = async () => {
    const state = { pages: [[]] as string[][] };
    const server = await startApiServer(({ url = '' }) => {
      const at = Number(new URL(url, 'http://x').searchParams.get('cursor') ?? 0);
      const nextCursor = at + 1 < state.pages.length ? `"${at + 1}"` : 'null';
      const records = (state.pages[at] ?? []).join(',');
      return { body: `{"success":true,"data":{"peopleList":[${records}],"nextCursor":${nextCursor}}}` };
    });
    const budget = { take: () => Promise.resolve(), pause: () => Promise.resolve() };
    const api = createReadApi({ workspace: 'acme', baseUrl: server.baseUrl, token: 't', budget });
    const warned: object[] = [];
    const log: Log = {
      ...silentLog,
      warn: (facts, message) => {
        if (message.startsWith('record cannot be read')) warned.push(facts);
      },
    };
    const list = sweptList(redis, api as unknown as ListedApi);
    const sweep = async (...pages: string[][]) => {
      state.pages = pages;
      return await list.sweep({ log });
    };
    return { ...list, sweep, warned, server };
  };

  it.each(
    rowsOfGate(1, [
      ['30,000 objects', objects(30_000)],
      ['1,000,000 arrays', arrays(1_000_000)],
    ]),
  )('%s in a known record: the record is named and stays, the others go on', async (_what, deep) => {
    const list = await open();
    await using _ = list.server;
    const first = [person('a'), person('b')];
    await list.sweep(first, [person('c'), person('d')]);
    const summary = await list.sweep(first, [person('c', deep), person('d', '2')]);
    expect(summary.unreadable).toEqual([{ id: 'c', page: 2, reason: 'it is nested more than 50 levels deep' }]);
    for (let round = 0; round < 3; round += 1)
      expect((await list.sweep(first, [person('c', deep), person('d', '2')])).counts).toMatchObject({ missing: 0 });
    expect(await list.eventLines()).toEqual(['updated d 1']);
    expect(list.warned).toMatchObject([{ list: 'people', record: 'c', page: 2 }]);

    await list.sweep(first, [person('c', '3'), person('d', '2')]);
    expect(await list.eventLines()).toEqual(['updated d 1', 'updated c 1']);
    await list.sweep(first, [person('d', '2')]);
    await list.sweep(first, [person('d', '2')]);
    expect(await list.eventLines()).toEqual(['updated d 1', 'updated c 1', 'deleted c 2']);
  });

  it.each([
    ['half a character in its id', person('\\ud83d'), 'its "id" holds half a character'],
    [
      'an id too long to be stored',
      person('x'.repeat(16_001)),
      'its "id" has 16001 characters; at most 16000 can be stored',
    ],
  ])('a record with %s: it is named and left out, and nothing is stored of it', async (_what, odd, reason) => {
    const list = await open();
    await using _ = list.server;
    await list.sweep([person('a'), odd], [person('b')]);
    await list.sweep([person('a', '2'), odd], [person('b', '2')]);
    await list.sweep([person('a', '2')], [person('b', '2')]);
    const last = await list.sweep([person('a', '2')], [person('b', '2')]);
    expect(await list.eventLines()).toEqual(['updated a 1', 'updated b 1']);
    expect(list.warned).toMatchObject([{ record: null, page: 1, reason }]);
    expect(last.unreadable).toBeUndefined();
  });

  it('ids and nesting up to the limits are read, and so is a new record that was unreadable at first', async () => {
    const list = await open();
    await using _ = list.server;
    const long = 'x'.repeat(16_000);
    await list.sweep([person('a')]);
    await list.sweep([person('a'), person(long, arrays(49)), person('deep', arrays(50))]);
    await list.sweep([person('a'), person(long, arrays(49)), person('deep', arrays(49))]);
    expect(await list.eventLines()).toEqual([`created ${long} 1`, 'created deep 1']);
    expect(list.warned).toMatchObject([{ record: 'deep' }]);
  });
});
