import { expect, it } from 'vitest';
import { useCli, type CliFolder } from '../support/cli.js';
import { startOtherCrm, type OtherCrm } from '../support/other-crm.js';
import { useRedis } from '../support/redis.js';

const cli = useCli();
const redis = useRedis();

interface Crm {
  crm: OtherCrm;
  say: (...args: string[]) => ReturnType<CliFolder['call']>;
  call: CliFolder['call'];
}

/** Two persons, of whom one changes after the first sweep, and one comes. `between` is a time before that. */
async function crmWithHistory(more: object = {}): Promise<Crm & { between: string }> {
  const crm = await startOtherCrm();
  crm.lists.people = [
    { id: 'a', 이름: '김가상', 등급: 'A', 메모: '=1+1' },
    { id: 'b', 이름: '이가상', 등급: 'A' },
  ];
  const off = Object.fromEntries(['organization', 'memo', 'todo', 'activity'].map((list) => [list, false]));
  const workspace = { name: 'acme', baseUrl: crm.url, token: crm.token, lists: { ...off, history: false }, ...more };
  const folder = await cli({
    'changefeed.config.json': { workspaces: [workspace], redis: { prefix: redis.keys.prefix } },
  });
  const call: CliFolder['call'] = (args, env = {}, io) => folder.call(args, { REDIS_URL: redis.url, ...env }, io);
  const say = (...args: string[]) => call(args);
  await say('sweep', 'people');
  const between = new Date().toISOString();
  crm.lists.people = [
    { id: 'a', 이름: '김가상', 등급: 'B', 메모: '=1+1' },
    { id: 'b', 이름: '이가상', 등급: 'A' },
    { id: 'c', 이름: '박가상', 등급: 'A' },
  ];
  await say('sweep', 'people');
  return { crm, say, call, between };
}

it('history: prints what changed, from what to what, and says since when it knows', async () => {
  const { say } = await crmWithHistory();
  const { stdout, code } = await say('history', 'people', 'a');
  expect(stdout).toMatch(
    /^김가상 {2}people a\n\d{4}-\d\d-\d\d \d\d:\d\d {2}updated\n {2}등급: A → B\nEvery change since .+ is kept\.\n$/u,
  );
  const { stdout: csv } = await say('history', 'people', 'a', '--csv');
  expect(csv).toMatch(/^\ufefftime,.*\r\n.*,crm\.person\.updated,등급,A,B,,evt_/u);
  const { stdout: json } = await say('history', 'people', 'a', '--json');
  expect([code, JSON.parse(json)]).toEqual([
    0,
    expect.objectContaining({
      id: 'a',
      next: null,
      changes: [expect.objectContaining({ type: 'crm.person.updated' })],
    }),
  ]);
});

it('history: speaks Korean on a Korean terminal', async () => {
  const { call } = await crmWithHistory();
  const { stdout } = await call(['history', 'people', 'c'], { LANG: 'ko_KR.UTF-8' });
  expect(stdout).toMatch(/생성/u);
  expect(stdout).toMatch(/이후의 변경을 모두 보관합니다/u);
});

it('export: a list as of a time, for a spreadsheet that reads Korean and runs no formulas of it', async () => {
  const { say, between } = await crmWithHistory();
  const { stdout, stderr, code } = await say('export', 'people', '--as-of', between, '--csv');
  const [head = '', ...rows] = stdout.split('\r\n');
  expect([code, head, rows.sort()]).toEqual([0, '\ufeffid,등급,메모,이름', ['', "a,A,'=1+1,김가상", 'b,A,,이가상']]);
  expect(stderr).toMatch(/^The history of "people" is known from .+ on\.\n2 rows\.\n$/u);
});

it('export: the list as it is, as a record a line, or some of its fields', async () => {
  const { say } = await crmWithHistory();
  const rows = async (...args: string[]): Promise<unknown[]> => {
    const { stdout } = await say('export', 'people', ...args);
    return stdout
      .trim()
      .split('\n')
      .sort()
      .map((line) => JSON.parse(line) as unknown);
  };
  expect(await rows()).toHaveLength(3);
  expect((await rows('--fields', '등급'))[0]).toEqual({ id: 'a', 등급: 'B' });
});

it('restore-plan: says what would be set back', async () => {
  const { say, between } = await crmWithHistory();
  const { stdout, stderr } = await say('restore-plan', 'people', '--from', between);
  expect(stdout).toMatch(/김가상 {2}a {2}등급: B → A {2}\(.+, unknown\)/u);
  expect(stdout).toMatch(/박가상 {2}c {2}remove the record/u);
  expect(stderr).toBe('2 to set back. Nothing was written.\n');
  const { stdout: csv } = await say('restore-plan', 'people', '--from', between, '--by', 'user', '--csv');
  expect(csv.split('\r\n')).toHaveLength(2);
});

it.each<[string, string[], RegExp]>([
  [
    'a time before the history',
    ['export', 'people', '--as-of', '2020-01-01'],
    /is known from \S+Z on: give that time or a later one\./,
  ],
  ['what is no time', ['export', 'people', '--as-of', 'yesterday'], /"yesterday" is not a time: give one such as/],
  ['a time in the future', ['export', 'people', '--as-of', '2999-01-01'], /2999-01-01 is in the future\./],
  ['a field that no record has', ['export', 'people', '--fields', '등금'], /no record has a field "등금"/],
  ['a list whose rows are only recognised', ['export', 'history'], /has no history: its rows/],
  ['two forms', ['export', 'people', '--csv', '--ndjson'], /not both/],
  ['no period', ['restore-plan', 'people'], /give --from/],
  ['no place in a history', ['history', 'people', 'a', '--before', 'x'], /give `next` of the answer before/],
])('history: %s is refused in one sentence', async (_what, args, says) => {
  const { say } = await crmWithHistory();
  const { code, stdout, stderr } = await say(...args);
  expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
  expect(stderr.trim().split('\n').at(-1)).toMatch(says);
});

it('history: without it, says which option is off', async () => {
  const { say } = await crmWithHistory({ history: false });
  const { code, stderr } = await say('history', 'people', 'a');
  expect([code, stderr]).toEqual([2, expect.stringContaining('`history` of the workspace "acme" is false')]);
});

it('export: an output that is cut off ends it with a sentence', async () => {
  const { call } = await crmWithHistory();
  const stopping = new AbortController();
  const write = (): Promise<void> => {
    stopping.abort(new Error('The reader of standard output has closed it.'));
    return Promise.resolve();
  };
  const { code, stderr } = await call(['export', 'people'], {}, { signal: stopping.signal, write });
  expect(stderr).toContain('Cut off after 1 rows');
  expect(code).toBe(1);
});
