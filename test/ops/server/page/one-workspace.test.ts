import { describe, expect, it, onTestFinished } from 'vitest';
import { ACTIONS } from '../../../../src/actions/table.js';
import { readsOnly } from '../../../../src/actions/define.js';
import { startSandbox } from '../../../../src/testing/index.js';
import { eventually } from '../../../support/eventually.js';
import { baselined, openFeed } from '../../../support/feed.js';
import { testFolder } from '../../../support/folder.js';
import { TOKENS } from '../../../support/page-feed.js';
import { useRedis } from '../../../support/redis.js';

const redis = useRedis();
const ACTION = { 'x-changefeed-action': '1', 'content-type': 'application/json' };

/** Two customers. What is of the second has its name in it. */
async function twoCustomers() {
  const [own, other] = [await startSandbox({ people: 3 }), await startSandbox({ people: 3, seed: 7 })];
  onTestFinished(async () => {
    await Promise.all([own.stop(), other.stop()]);
  });
  const workspaces = [
    { name: 'acme', ...own.workspace },
    { name: 'zeta', ...other.workspace },
  ];
  const feed = await openFeed(
    redis,
    { workspaces, http: { port: 0, tokens: TOKENS } },
    { http: true, stateDir: testFolder() },
  );
  await feed.start(['poll', 'dispatch', 'handle']);
  await baselined(feed);
  const [mine, theirs] = [own, other].map(({ sandbox }) => sandbox.life.createPerson());
  await eventually(async () => {
    const { workspaces: all } = await feed.status();
    expect(all.every(({ logLength }) => logLength > 0)).toBe(true);
  });
  const { token } = await feed.invites.add({ name: 'customer', workspace: 'acme' });
  const headers = { ...ACTION, authorization: `Bearer ${token}` };
  const ask = async (method: string, path: string, body?: object) => {
    const answer = await fetch(`${feed.pageUrl}${path}`, {
      method,
      headers,
      ...(body && { body: JSON.stringify(body) }),
    });
    return { status: answer.status, text: await answer.text() };
  };
  return { feed, ask, mine: mine!, theirs: theirs!, token };
}

/** What each of these asks beside the workspace. */
const ASKED: Readonly<Record<string, (id: string) => object>> = {
  readEvent: () => ({ logId: '1-1' }),
  readSchema: () => ({ list: 'people' }),
  findRecords: () => ({ list: 'people' }),
  findRecordsAsOf: () => ({ list: 'people', at: new Date().toISOString() }),
  explainRecord: (id) => ({ list: 'people', id }),
  readRecordHistory: (id) => ({ list: 'people', id }),
  readRelatedRecords: (id) => ({ list: 'people', id }),
};

describe('one workspace', () => {
  it('one workspace: its token sees what is of it and nothing else, whatever it asks', async () => {
    const { ask, mine, theirs } = await twoCustomers();
    const open: string[] = [];
    for (const action of ACTIONS) {
      const { id, route, ofWorkspace = false, input } = action;
      const [method = '', url = ''] = route.split(' ');
      const call = async (workspace: string | undefined, record: string) => {
        const given = { ...ASKED[id]?.(record), ...(workspace && { workspace }) } as Record<string, string>;
        const path = url.replaceAll(/:(\w+)/g, (_, name: string) => given[name] ?? 'people');
        const rest = Object.fromEntries(Object.entries(given).filter(([name]) => !url.includes(`:${name}`)));
        if (method !== 'GET') return await ask(method, path, rest);
        return await ask(method, `${path}?${new URLSearchParams(rest).toString()}`);
      };
      if (action.open === true) continue;
      const refused = await call('zeta', theirs);
      expect([id, refused.status]).toEqual([
        id,
        ofWorkspace && 'workspace' in input.shape
          ? 404
          : expect.toBeOneOf([400, 403, 404, ...(ofWorkspace ? [200] : [])]),
      ]);
      if (!ofWorkspace) expect([id, (await call('acme', mine)).status]).toEqual([id, 403]);
      if (!ofWorkspace) continue;
      expect(readsOnly(action)).toBe(true);
      open.push(id);
      for (const workspace of url.includes(':workspace')
        ? ['acme']
        : [undefined, ...('workspace' in input.shape ? ['acme'] : [])]) {
        const { status, text } = await call(workspace, mine);
        expect([id, status]).toEqual([id, id === 'readEvent' ? 404 : 200]);
        expect([id, text.includes('zeta'), text.includes(theirs)]).toEqual([id, false, false]);
      }
    }
    expect(open).toHaveLength(15);
  });

  it('one workspace: streams, metrics, queues and the assistant are closed, or have its own events only', async () => {
    const { feed, ask, mine, theirs, token } = await twoCustomers();
    expect((await ask('GET', '/events?workspace=zeta&from=beginning')).status).toBe(404);
    const headers = { authorization: `Bearer ${token}`, 'last-event-id': '' };
    const read = await fetch(`${feed.pageUrl}/events?from=beginning&follow=false`, { headers });
    const lines = await read.text();
    expect([lines.includes(mine), lines.includes(theirs), lines.includes('zeta')]).toEqual([true, false, false]);
    for (const path of ['/metrics', '/mcp', '/queues', '/queues/api/queues'])
      expect([path, (await ask('GET', path)).status]).toEqual([path, expect.toBeOneOf([403, 404])]);
    expect((await ask('POST', '/mcp', { jsonrpc: '2.0', id: 1, method: 'tools/list' })).status).toBe(403);
    await expect(feed.invites.add({ name: 'boss', role: 'operate', workspace: 'acme' })).rejects.toThrow(
      'can only read',
    );
    await expect(feed.invites.add({ name: 'nobody', workspace: 'none' })).rejects.toThrow(
      'there is no workspace "none"',
    );
    const own = await feed.status({ workspace: 'acme' });
    expect(JSON.stringify({ ...own, processes: [] })).not.toContain('zeta');
  });
});
