import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { CopyRow } from '../../../src/delivery/verify/copy.js';
import { NO_COUNTS, type VerifiedList } from '../../../src/delivery/verify/verified.js';
import type { Changefeed } from '../../../src/actions/feed.js';
import { defineHandler } from '../../../src/delivery/handlers/define.js';
import { PermanentError } from '../../../src/delivery/handlers/errors.js';
import { useCli } from '../../support/cli.js';
import { eventually } from '../../support/eventually.js';
import { openFeed } from '../../support/feed.js';
import { testFolder } from '../../support/folder.js';
import { startOtherCrm, type OtherCrm, type OtherRecord } from '../../support/other-crm.js';
import { useRedis } from '../../support/redis.js';

const test = useRedis();
const cli = useCli();

const PEOPLE: readonly OtherRecord[] = Array.from({ length: 10 }, (_, number) => ({
  id: `p${number}`,
  이름: `가상인 ${number}`,
  '수정 날짜': '2026-02-20T08:00:00.000Z',
}));

interface Kept extends CopyRow {
  sequence: number;
}

/** One list; the receiver keeps what a receiver is to keep: the highest sequence of each record. */
async function aFeed(options: object = {}) {
  const crm = await startOtherCrm();
  crm.lists.people = structuredClone([...PEOPLE]);
  const kept = new Map<string, Kept>();
  const refuse = new Set<string>();
  const receiver = defineHandler({
    name: 'copy',
    on: ['crm.*'],
    start: 'snapshot',
    ...options,
    handle({ type, subject: id, data: { sequence } }) {
      if (refuse.has(id)) throw new PermanentError('refused');
      if ((kept.get(id)?.sequence ?? -1) > sequence) return;
      kept.set(id, { list: 'people', id, sequence, deleted: type.endsWith('.deleted') });
    },
  });
  const feed = await openFeed(test, {
    workspaces: [{ name: 'acme', baseUrl: crm.url, token: crm.token, lists: onlyPeople() }],
    subscriptions: [receiver],
  });
  const sweep = async (): Promise<void> => {
    expect(await feed.sweep({ lists: ['people'] })).toMatchObject([{ outcome: 'complete' }]);
  };
  const delivered = async (): Promise<void> => {
    expect(await feed.waitUntilHandled({ timeoutMs: 10_000 })).toEqual({ outcome: 'handled' });
  };
  await sweep();
  await feed.start(['dispatch', 'handle']);
  await eventually(() => expect(kept.size).toBe(PEOPLE.length));
  await delivered();
  return { crm, feed, kept, refuse, sweep, delivered, rows: () => [...kept.values()] };
}

const onlyPeople = () => ({
  people: { removals: { after: '0s', confirm: 1 } },
  ...Object.fromEntries(
    ['organization', 'memo', 'todo', 'history', 'activity'].map((list) => [list, { enabled: false }]),
  ),
});

const counts = (some: Partial<VerifiedList>): VerifiedList => ({
  ...{ workspace: 'acme', list: 'people', ...NO_COUNTS, because: [] },
  ...some,
});

function rename(crm: OtherCrm, id: string, name: string): void {
  crm.lists.people = crm.lists.people.map((one) =>
    one.id === id ? { ...one, 이름: name, '수정 날짜': new Date().toISOString() } : one,
  );
}

const kindOf = async (feed: Changefeed, rows: readonly CopyRow[]) => (await feed.verify('copy', rows)).lists;

describe('verify', () => {
  it('verify: counts each record once, and names those that are wrong', async () => {
    const { feed, kept, crm, sweep, delivered, rows } = await aFeed();
    expect(await feed.verify('copy', rows())).toEqual({
      subscription: 'copy',
      copy: 'rows',
      at: expect.any(String) as string,
      ms: expect.any(Number) as number,
      wrong: 0,
      lists: [counts({ equal: 10 })],
      examples: [],
      repaired: null,
    });
    const before = new Map(kept);
    rename(crm, 'p1', '새 이름');
    crm.lists.people = crm.lists.people.filter(({ id }) => id !== 'p2');
    await sweep();
    await delivered();
    expect(await kindOf(feed, rows())).toEqual([counts({ equal: 9 })]);
    // A receiver that lost what it got since: one is behind, one is still there, and one was never kept.
    before.delete('p3');
    const lost = await feed.verify('copy', [...before.values(), { list: 'person', id: 'stranger', sequence: '4' }]);
    expect(lost.lists).toEqual([counts({ equal: 7, behind: 1, missing: 1, extra: 2 })]);
    const of = { workspace: 'acme', list: 'people' };
    expect(lost.examples).toEqual([
      { ...of, id: 'p1', title: '새 이름', found: 'behind', copy: 0, feed: kept.get('p1')?.sequence },
      { ...of, id: 'p2', title: null, found: 'extra', copy: 0, feed: kept.get('p2')?.sequence },
      { ...of, id: 'stranger', title: null, found: 'extra', copy: 4, feed: null },
      { ...of, id: 'p3', title: '가상인 3', found: 'missing', copy: null, feed: 0 },
    ]);
    expect((await feed.status()).subscriptions[0]?.verified).toEqual({
      ...{ ...NO_COUNTS, equal: 7, behind: 1, missing: 1, extra: 2 },
      ...{ at: lost.at, copy: 'rows', nightly: false, wrong: 4 },
    });
  });

  it('verify: what is on its way is in flight; what died, or a person dropped, is named', async () => {
    const { feed, crm, refuse, sweep, delivered, rows } = await aFeed();
    await feed.pause('copy');
    rename(crm, 'p1', '하나');
    await sweep();
    expect(await kindOf(feed, rows())).toEqual([counts({ equal: 9, inFlight: 1 })]);
    await feed.skip('copy');
    await feed.resume('copy');
    await delivered();
    expect(await kindOf(feed, rows())).toEqual([counts({ equal: 9, dropped: 1 })]);
    refuse.add('p2');
    rename(crm, 'p2', '둘');
    await sweep();
    await delivered();
    expect(await kindOf(feed, rows())).toEqual([counts({ equal: 8, dropped: 1, dead: 1 })]);
    refuse.clear();
    await feed.deadLetters.retry();
    await delivered();
    expect(await kindOf(feed, rows())).toEqual([counts({ equal: 9, dropped: 1 })]);
  });

  it('verify: what a person erased, and what is held, is no fault of the copy', async () => {
    const { feed, crm, sweep, delivered, rows } = await aFeed();
    await feed.erase({ workspace: 'acme', list: 'people', id: 'p1' });
    expect(await kindOf(feed, rows())).toEqual([counts({ equal: 9, erased: 1 })]);
    const strangers = Array.from({ length: 150 }, (_, number) => ({ ...PEOPLE[0], id: `n${number}` }));
    crm.lists.people = [...crm.lists.people, ...strangers];
    await sweep();
    await delivered();
    const [held] = await feed.lists.held('people');
    const { count = 0, reported = 0 } = held ?? {};
    expect(await kindOf(feed, rows())).toEqual([counts({ equal: 9 + reported, held: count, erased: 1 })]);
  });

  it('verify: a subscription that does not get every event is not said to be behind', async () => {
    const { feed, crm, sweep, delivered, rows } = await aFeed({ fields: ['이메일'] });
    rename(crm, 'p1', '하나');
    await sweep();
    await delivered();
    expect(await kindOf(feed, rows())).toEqual([counts({ equal: 9, unjudged: 1, because: ['fields'] })]);
    // By its contents, it is right.
    const [person] = crm.lists.people.filter(({ id }) => id === 'p1');
    const withData = rows().map((row) => (row.id === 'p1' ? { ...row, data: person } : row));
    expect(await kindOf(feed, withData)).toEqual([counts({ equal: 10, because: ['fields'] })]);
  });

  it('verify: what is repaired is sent again in order, with a receipt each, and then the copy is equal', async () => {
    const { feed, kept, crm, sweep, delivered, rows } = await aFeed();
    const before = new Map(kept);
    rename(crm, 'p1', '하나');
    crm.lists.people = crm.lists.people.filter(({ id }) => id !== 'p2');
    await sweep();
    await delivered();
    // A receiver that was restored: what it got since is gone, and one row is from another workspace.
    kept.clear();
    for (const [id, one] of before) if (id !== 'p3') kept.set(id, one);
    kept.set('stranger', { list: 'people', id: 'stranger', sequence: 7 });
    expect(await feed.verify('copy', rows(), { repair: true })).toMatchObject({ wrong: 4, repaired: 4 });
    await delivered();
    expect(await kindOf(feed, rows())).toEqual([counts({ equal: 9 })]);
    const sent = (await feed.deliveries({ subscription: 'copy', limit: 4 })).map(({ record, type, outcome }) => ({
      ...{ record, type, outcome },
    }));
    expect(sent.toSorted((one, other) => (one.record < other.record ? -1 : 1))).toEqual([
      { record: 'p1', type: 'crm.person.snapshot', outcome: 'delivered' },
      { record: 'p2', type: 'crm.person.deleted', outcome: 'delivered' },
      { record: 'p3', type: 'crm.person.snapshot', outcome: 'delivered' },
      { record: 'stranger', type: 'crm.person.deleted', outcome: 'delivered' },
    ]);
    // Whatever happens next to a record that was repaired, the receiver takes it.
    crm.lists.people = [...crm.lists.people, { ...PEOPLE[0], id: 'stranger' }];
    await sweep();
    await delivered();
    expect(await kindOf(feed, rows())).toEqual([counts({ equal: 10 })]);
  });

  it('verify: a file of rows is read line by line, quotes and a byte order mark included', async () => {
    const { feed, rows } = await aFeed();
    const path = testFolder();
    const csv = rows().map(({ id, sequence }) => `"가 ""이름"",\n둘","${id}",people,${sequence}`);
    await writeFile(join(path, 'copy.csv'), `\ufeffname,id,list,sequence\r\n${csv.join('\r\n')}`);
    await writeFile(
      join(path, 'copy.ndjson'),
      rows()
        .map((row) => `${JSON.stringify(row)}\n`)
        .join(''),
    );
    for (const name of ['copy.csv', 'copy.ndjson'])
      expect((await feed.verify('copy', join(path, name))).lists).toEqual([counts({ equal: 10 })]);
  });
});

describe('verify on a terminal', () => {
  const CONFIG = {
    workspaces: [{ name: 'acme', baseUrl: 'http://127.0.0.1:1', token: 't', lists: { people: {} } }],
    subscriptions: [{ handler: 'ndjson', name: 'copy', path: 'out.ndjson' }],
  };

  it.each([
    [
      'no copy of a handler that cannot be read',
      {},
      [],
      'verify: what "copy" (ndjson) has delivered cannot be read. Give its copy: --copy rows.csv with list, id, sequence, or feed.verify("copy", rows) in a program.',
    ],
    [
      'a file that is not there',
      {},
      ['--copy', 'rows.csv'],
      'verify, rows.csv: it cannot be read (ENOENT). Nothing was sent.',
    ],
    [
      'a file of another kind',
      {},
      ['--copy', 'rows.xlsx'],
      'verify, rows.xlsx: expected a file whose name ends with .csv or .ndjson. Nothing was sent.',
    ],
    [
      'an empty file',
      { 'rows.csv': '' },
      ['--copy', 'rows.csv'],
      'verify, rows.csv: it is empty; expected a first line with list, id, sequence. Nothing was sent.',
    ],
    [
      'a wrong column',
      { 'rows.csv': 'list,id,seq\npeople,p1,1\n' },
      ['--copy', 'rows.csv'],
      'verify, rows.csv, line 1: no column sequence; expected list, id, sequence, found "list", "id", "seq". Nothing was sent.',
    ],
    [
      'a list that does not exist',
      { 'rows.csv': 'list,id,sequence\npeople,p1,1\npets,p2,1\n' },
      ['--copy', 'rows.csv'],
      'verify, rows.csv, line 3: there is no list "pets" (people, organization, memo, todo, history, activity). Nothing was sent.',
    ],
    [
      'a row that is cut off',
      { 'rows.csv': 'list,id,sequence\npeople,p1,1\npeople,p2' },
      ['--copy', 'rows.csv'],
      'verify, rows.csv, line 3: the file ends in the middle of this line (expected 3 values, found 2): write it again. Nothing was sent.',
    ],
    [
      'a quote that is cut off',
      { 'rows.csv': 'list,id,sequence\npeople,"p1' },
      ['--copy', 'rows.csv'],
      'verify, rows.csv, line 2: a quote is not closed: the file may be cut off. Nothing was sent.',
    ],
    [
      'half a line of JSON',
      { 'rows.ndjson': '{"list":"people","id":"p1","sequence":1}\n{"list":"peo' },
      ['--copy', 'rows.ndjson'],
      'verify, rows.ndjson, line 2: the file ends in the middle of this line: write it again. Nothing was sent.',
    ],
    [
      'a line that is no JSON',
      { 'rows.ndjson': 'p1\n' },
      ['--copy', 'rows.ndjson'],
      'verify, rows.ndjson, line 1: it is not JSON. Nothing was sent.',
    ],
    [
      'a sequence that is no number',
      { 'rows.csv': 'list,id,sequence\npeople,p1,x\n' },
      ['--copy', 'rows.csv'],
      'verify, rows.csv, line 2: sequence: expected a whole number, found a string of 1 characters. Nothing was sent.',
    ],
    [
      'a record twice',
      { 'rows.csv': 'list,id,sequence\npeople,p1,1\nperson,p1,2\n' },
      ['--copy', 'rows.csv'],
      'verify, rows.csv, line 3: the record "p1" of people is in the copy twice: give one row for each. Nothing was sent.',
    ],
  ])('verify: refuses %s with one sentence', async (_what, files, args, says) => {
    const folder = await cli({
      'changefeed.config.json': { ...CONFIG, redis: { prefix: test.keys.prefix } },
      ...files,
    });
    const { code, stdout, stderr } = await folder.call(['verify', 'copy', ...args], { REDIS_URL: test.url });
    expect({ code, stdout, stderr }).toEqual({ code: 2, stdout: '', stderr: `changefeed: ${says} [CF_USAGE]\n` });
  });

  it('verify: refuses a subscription that does not exist', async () => {
    const folder = await cli({ 'changefeed.config.json': { ...CONFIG, redis: { prefix: test.keys.prefix } } });
    expect(await folder.call(['verify', 'other'], { REDIS_URL: test.url })).toEqual({
      code: 2,
      stdout: '',
      stderr: 'changefeed: There is no subscription "other". Known: "copy". [CF_USAGE]\n',
    });
  });
});
