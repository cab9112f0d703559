/** A workspace whose pages a function gives: events, its source, its errors, the doctor. And lists that name more than they show. */
import { expect, it } from 'vitest';
import { parseConfig } from '../../src/config/parse.js';
import type { FetchPageFunction } from '../../src/feed/api/fetch-page.js';
import { UnauthorizedError } from '../../src/kit/thrown.js';
import { startApiServer } from '../support/api-server.js';
import { useCli } from '../support/cli.js';
import { eventually } from '../support/eventually.js';
import { baselined, eventsOf, openFeed } from '../support/feed.js';
import { useRedis } from '../support/redis.js';

const redis = useRedis();
const cli = useCli();

const people = Array.from({ length: 30 }, (_, n) => ({ id: `p-${n}`, 이름: `사람 ${n}` }));
const byOffset: FetchPageFunction = ({ cursor }) => {
  const end = Number(cursor ?? 0) + 10;
  return { rows: people.slice(end - 10, end), next: end < people.length ? String(end) : null };
};
const off = { organization: false, memo: false, todo: false, history: false, activity: false };
const workspace = (more: object = {}) => ({
  name: 'acme',
  fetchPage: byOffset,
  lists: off,
  todos: { watch: false },
  ...more,
});

it(
  'fetchPage: changes are events, without baseUrl and token, and a refused token is one',
  { timeout: 120_000 },
  async () => {
    let refuses = false;
    const fetchPage: FetchPageFunction = (call) => {
      if (refuses) throw new UnauthorizedError('no');
      return byOffset(call);
    };
    const feed = await openFeed(redis, {
      workspaces: [workspace({ fetchPage, lists: { ...off, people: { interval: '1s' } } })],
    });
    await feed.start();
    await baselined(feed);
    people[7] = { id: 'p-7', 이름: '다른 이름' };
    await eventually(async () =>
      expect((await eventsOf(feed)).map(({ type, subject }) => `${type} ${subject}`)).toEqual([
        'crm.person.updated p-7',
      ]),
    );
    refuses = true;
    await eventually(async () => {
      const [problem] = (await feed.status()).problems;
      expect(problem?.kind).toBe('workspace.unauthorized');
      expect(problem?.message).toContain('UnauthorizedError');
    });
  },
);

it('fetchPage: the source is that of the workspace, or of its baseUrl, and another one is not taken for the same', async () => {
  const sweep = async (more: object) => {
    const feed = await openFeed(redis, { workspaces: [workspace(more)] });
    const [one] = await feed.sweep();
    await feed.stop();
    return one?.outcome === 'complete' ? one.summary.source : String(one?.error);
  };
  expect(await sweep({})).toBe('fetchPage:acme');
  const others: FetchPageFunction = () => ({ rows: Array.from({ length: 30 }, (_, n) => ({ id: `other-${n}` })) });
  expect(await sweep({ fetchPage: others, baseUrl: 'https://crm.example/api' })).toContain(
    'the source is now https://crm.example/api and shows other records than fetchPage:acme',
  );
  // The same records from another place.
  expect(await sweep({ baseUrl: 'https://crm.example/api' })).toBe('https://crm.example/api');
});

it.each<[string, object, RegExp]>([
  [
    'neither fetchPage nor an address',
    { fetchPage: undefined },
    /baseUrl: found nothing; allowed: an http or https URL[^]*token: found nothing; allowed: the API token/,
  ],
  ['a name of a function', { fetchPage: 'byOffset' }, /fetchPage: found "byOffset"; allowed: in code, a function/],
])('fetchPage: a configuration with %s is refused', (_what, more, said) => {
  expect(() => parseConfig({ workspaces: [workspace(more)] })).toThrow(said);
});

it('fetchPage: doctor reads two pages of each list, and says that it does not check the token', async () => {
  const folder = await cli({
    'changefeed.config.mjs': `
      const rows = (from) => Array.from({ length: 10 }, (_, n) => ({ id: 'p-' + (from + n), 이름: '김' }));
      const fetchPage = ({ cursor }) => ({ rows: rows(Number(cursor ?? 0)), next: cursor === null ? '10' : null });
      export default { workspaces: [{ name: 'acme', fetchPage, lists: ${JSON.stringify(off)}, todos: { watch: false } }], redis: { prefix: '${redis.keys.prefix}' } };`,
  });
  const { stdout } = await folder.call(['doctor', '--json'], { REDIS_URL: redis.url });
  const { findings } = JSON.parse(stdout) as { findings: { check: string; result: string; seen: string }[] };
  const of = (check: string): string | undefined =>
    findings.filter((one) => one.check === check).map(({ result, seen }) => `${result} ${seen}`)[0];
  expect(of('acme: token')).toBe('skipped not checked: fetchPage asks with its own');
  expect(of('acme: people')).toMatch(/10 and 10 rows/);
});

it.each([
  ['total', { total: 120 }],
  ['total', { total: 120, nextCursor: null }],
  ['pages', { pages: 3 }],
  ['has_more', { has_more: true, nextCursor: null }],
])(
  'sweep: a list that ends at its first page, whose answer names more by "%s" (%j), is incomplete and no baseline',
  async (name, more) => {
    const rows = Array.from({ length: 50 }, (_, id) => ({ id: String(id) }));
    await using crm = await startApiServer(() => ({ body: { success: true, data: { peopleList: rows, ...more } } }));
    const folder = await cli({
      'changefeed.config.json': {
        workspaces: [{ name: 'acme', baseUrl: crm.baseUrl, token: 'crm-token-1', lists: off, todos: { watch: false } }],
        redis: { prefix: redis.keys.prefix },
      },
    });
    const env = { REDIS_URL: redis.url };
    const { code, stderr } = await folder.call(['sweep'], env);
    expect([code, stderr]).toEqual([1, expect.stringContaining(`expected a "nextCursor" beside "${name}"`)]);
    const status = await folder.call(['status', '--json'], env);
    expect(JSON.parse(status.stdout)).toMatchObject({
      workspaces: [
        {
          lists: expect.arrayContaining([
            expect.objectContaining({ list: 'people', baselineAt: null, records: 0 }),
          ]) as unknown,
        },
      ],
    });
  },
);
