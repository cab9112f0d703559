/** The examples of docs/lists.md, each run against a server that pages in its way. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, it, onTestFinished } from 'vitest';
import { codeBlocksOf } from '../../.ci/docs/markdown.js';
import { useCli } from '../support/cli.js';
import { useRedis } from '../support/redis.js';

const redis = useRedis();
const cli = useCli();
const blocks = new Map(codeBlocksOf('docs/lists.md').map(({ file, code }) => [file, code]));

const TOTAL = 240;
const at = (n: number): string => new Date(Date.UTC(2026, 2, 1) + n * 1_000).toISOString();
const ROWS = Array.from({ length: TOTAL }, (_, n) => ({ id: `p-${n}`, 이름: `사람 ${n}`, updatedAt: at(n) }));
type Answer = { body: unknown; headers?: Record<string, string> };

const WAYS: readonly [file: string, name: string, answer: (query: URLSearchParams, host: string) => Answer][] = [
  [
    'offset.ts',
    'byOffset',
    (query) => {
      const offset = Number(query.get('offset'));
      return { body: { items: ROWS.slice(offset, offset + Number(query.get('limit'))), total: TOTAL } };
    },
  ],
  [
    'page-number.ts',
    'byPageNumber',
    (query) => {
      const [page, size] = [Number(query.get('page')), Number(query.get('per_page'))];
      return { body: { data: ROWS.slice((page - 1) * size, page * size), meta: { pages: Math.ceil(TOTAL / size) } } };
    },
  ],
  [
    'link-header.ts',
    'byLinkHeader',
    (query, host) => {
      const after = Number(query.get('after') ?? 0);
      const next = `<http://${host}/people?after=${after + 100}&per_page=100>; rel="next", <http://${host}/people>; rel="first"`;
      return {
        body: ROWS.slice(after, after + 100),
        headers: { link: after + 100 < TOTAL ? next : `<http://${host}>; rel="first"` },
      };
    },
  ],
  [
    'updated-since.ts',
    'byUpdatedSince',
    (query) => {
      const rows = ROWS.filter(({ updatedAt }) => updatedAt >= (query.get('updated_since') ?? ''));
      return { body: { records: rows.slice(0, Number(query.get('limit'))) } };
    },
  ],
];

async function serve(answer: (request: IncomingMessage, response: ServerResponse) => void): Promise<string> {
  const server = createServer(answer);
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  onTestFinished(() => void server.close());
  return `127.0.0.1:${(server.address() as AddressInfo).port}`;
}

it.each(WAYS)(
  'lists: %s of the documentation reads the whole list of a CRM that pages so',
  async (file, name, answer) => {
    const refusals = [429, 503];
    const host = await serve((request, response) => {
      const { searchParams } = new URL(request.url ?? '/', 'http://crm.invalid');
      const refusal = request.headers.authorization === 'Bearer t' ? refusals.shift() : 401;
      const { body, headers } = answer(searchParams, host);
      response.writeHead(refusal ?? 200, { ...headers, 'retry-after': '0' });
      response.end(JSON.stringify(body));
    });
    const code = [...['crm.ts', file].map((one) => blocks.get(one) ?? ''), `const fetchPage = ${name};`].join('\n');
    const off = Object.fromEntries(
      ['organization', 'memo', 'todo', 'history', 'activity'].map((list) => [list, false]),
    );
    const folder = await cli({
      'changefeed.config.ts': `${code}
      export default { workspaces: [{ name: 'acme', fetchPage, lists: ${JSON.stringify(off)}, todos: { watch: false } }],
        redis: { prefix: ${JSON.stringify(redis.keys.prefix)} } };`,
    });
    const env = { REDIS_URL: redis.url, CRM_URL: `http://${host}`, CRM_TOKEN: 't' };
    Object.assign(process.env, env);
    onTestFinished(() =>
      ['CRM_URL', 'CRM_TOKEN', 'REDIS_URL'].forEach((one) => Reflect.deleteProperty(process.env, one)),
    );
    const swept = await folder.call(['sweep', '--json'], env);
    expect(JSON.parse(swept.stdout)).toMatchObject({
      sweeps: [{ list: 'people', outcome: 'complete', pages: 3, counts: { seen: TOTAL } }],
    });
    expect(refusals).toEqual([]);
    expect(swept.code).toBe(0);
  },
);

it('lists: the examples of the documentation have about ten lines', () => {
  for (const [file] of WAYS) expect(blocks.get(file)!.split('\n').length).toBeLessThanOrEqual(10);
});
