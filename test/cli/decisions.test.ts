/** Whoever asks later who did what finds one line for each decision. */
import { writeFile } from 'node:fs/promises';
import { userInfo } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { createLog } from '../../src/ops/log.js';
import { useCli } from '../support/cli.js';
import { eventually } from '../support/eventually.js';
import { openFeed } from '../support/feed.js';
import { startOtherCrm } from '../support/other-crm.js';
import { handlerOf, OPERATE, OPERATOR, personEvent } from '../support/page-feed.js';
import { appendEvents } from '../support/events.js';
import { useRedis } from '../support/redis.js';

const DECIDED = 'a person decided';
type Line = Record<string, unknown>;
const decisionsIn = (text: string): Line[] =>
  text
    .split('\n')
    .filter((line) => line.includes(DECIDED))
    .map((line) => JSON.parse(line) as Line);

describe('decisions', () => {
  const cli = useCli();
  const redis = useRedis();

  it('decisions: each command that decides something logs one line, and one that only asks logs none', async () => {
    const { url: baseUrl, token } = await startOtherCrm();
    const config = {
      workspaces: [{ name: 'acme', baseUrl, token }],
      redis: { prefix: redis.keys.prefix },
      subscriptions: [{ handler: 'ndjson', name: 'out', path: 'out.ndjson' }],
    };
    const folder = await cli({ 'changefeed.config.json': config });
    const decided = async (...args: string[]): Promise<Line[]> =>
      decisionsIn(
        (await folder.call(args, { REDIS_URL: redis.url, SSH_CONNECTION: '203.0.113.7 50000 10.0.0.1 22' })).stderr,
      );
    const { username: by } = userInfo();
    const line = (what: string, facts: Line) => [
      expect.objectContaining({ level: 'info', by, how: 'command', address: '203.0.113.7', what, ...facts }) as unknown,
    ];
    expect(await decided('pause', 'out', '--reason', 'the words of a person')).toEqual(
      line('pause', { subscription: 'out', count: 1 }),
    );
    expect(await decided('resume', 'out')).toEqual(line('resume', { subscription: 'out', count: 1 }));
    expect(await decided('dead', 'retry', '--all')).toEqual(line('dead retry', { count: 0 }));
    expect(await decided('dead', 'drop', '--all', '--yes')).toEqual(line('dead drop', { count: 0 }));
    expect(await decided('replay', 'out', 'beginning')).toEqual(line('replay', { subscription: 'out', count: 0 }));
    expect(await decided('accept', 'people')).toEqual(line('accept', { list: 'people', count: 0 }));
    expect(await decided('resync', 'people', '--yes')).toEqual(line('resync', { list: 'people' }));
    const until = expect.any(String) as unknown;
    expect(await decided('invite', '김영업')).toEqual(
      line('invite', { person: '김영업', role: 'read', until, count: 1 }),
    );
    expect(await decided('invite', 'list')).toEqual([]);
    expect(await decided('invite', 'revoke', '김영업')).toEqual(line('invite revoke', { person: '김영업' }));
    const tombstone = expect.stringMatching(/^[\w-]{22}$/) as unknown;
    const erased = await decided('erase', 'people', 'the-id-of-a-person', '--yes');
    expect(erased).toEqual(line('erase', { workspace: 'acme', list: 'people', tombstone, count: 0 }));
    expect(JSON.stringify(erased)).not.toContain('the-id-of-a-person');
    await writeFile(join(folder.cwd, 'changefeed.config.json'), JSON.stringify({ ...config, subscriptions: [] }));
    expect(await decided('subscriptions', 'forget', 'out', '--yes')).toEqual(
      line('subscriptions forget', { subscription: 'out' }),
    );
    expect(await decided('forget', 'acme', '--yes')).toEqual(line('forget', { workspace: 'acme' }));
    expect(await decided('dead', 'list')).toEqual([]);
    expect(await decided('dead', 'drop', '--all', '--dry-run')).toEqual([]);
    expect(await decided('resync', 'people', '--dry-run')).toEqual([]);
    expect(await decided('erase', 'people', 'p1', '--dry-run')).toEqual([]);
  });

  it('decisions: a command says what came of it in the language of the terminal, and errors are in English', async () => {
    const config = {
      workspaces: [{ name: 'acme', baseUrl: 'http://127.0.0.1:1', token: 't' }],
      redis: { prefix: redis.keys.prefix },
      subscriptions: [{ handler: 'ndjson', name: 'out', path: 'out.ndjson', on: ['crm.todo.*'] }],
    };
    const folder = await cli({ 'changefeed.config.json': config });
    const say = (args: string[], LANG = 'en_GB.UTF-8') => folder.call(args, { REDIS_URL: redis.url, LANG });
    expect((await say(['subscriptions', 'show', 'out'])).stdout).toBe(
      '"out" gets crm.todo.* at ndjson. In the last hour: 0 delivered, 0 to be tried again, 0 dead, 0 skipped.\n',
    );
    expect((await say(['skip', 'out', '--dry-run'], 'ko_KR.UTF-8')).stdout).toBe(
      '되돌릴 수 없습니다. 버릴 것: "out"을(를) 기다리는 이벤트 0건(로그에서 읽지 않은 것 0, 큐에 있는 것 0). 바뀐 것은 없습니다.\n',
    );
    expect((await say(['skip', 'out'], 'ko_KR.UTF-8')).stderr).toMatch(/skip: This drops 0 events .* \[CF_USAGE\]/);
  });

  it('decisions: each action of the page and its API logs one line, without the words of the request', async () => {
    const { url: baseUrl, token } = await startOtherCrm();
    const lines: string[] = [];
    const log = createLog({ destination: { write: (line) => void lines.push(line) } });
    const raw = {
      workspaces: [{ name: 'acme', baseUrl, token }],
      subscriptions: [handlerOf('broken', (subject) => `not ${subject}`)],
      http: { port: 0, tokens: { operate: OPERATE } },
    };
    const feed = await openFeed(redis, raw, { http: true, log });
    await feed.start(['dispatch', 'handle']);
    await appendEvents(redis, [personEvent('p1', 1), personEvent('p2', 1)]);
    await eventually(async () => expect(await feed.deadLetters.count()).toBe(2));
    const act = async (path: string, body: object, headers: object = OPERATOR) =>
      await fetch(`${feed.pageUrl ?? ''}${path}`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', 'x-changefeed-action': '1', ...headers },
        body: JSON.stringify(body),
      });
    await act('/api/dead-letters/drop', { subscription: 'broken', reason: 'not p1' });
    await act('/api/dead-letters/drop', { all: true }, {});
    await act('/api/dead-letters/drop', {});
    await act('/api/subscriptions/broken/pause', { reason: 'the words of a person' });
    await act('/api/lists/acme/people/erase', { id: 'p2' });
    const person = {
      level: 'info',
      by: 'operate',
      how: 'token',
      address: '127.0.0.1',
      msg: DECIDED,
      time: expect.any(String) as unknown,
    };
    expect(decisionsIn(lines.join(''))).toEqual([
      { ...person, what: 'dead drop', subscription: 'broken', count: 1 },
      { ...person, what: 'pause', subscription: 'broken', count: 1 },
      {
        ...person,
        what: 'erase',
        ...{ workspace: 'acme', list: 'people', tombstone: expect.stringMatching(/^[\w-]{22}$/) as unknown, count: 1 },
      },
    ]);
    // Entries of what was refused are written when the minute is over, or the service stops.
    await fetch(`${feed.pageUrl ?? ''}/api/status`, { headers: { authorization: 'Bearer a-wrong-token' } });
    await fetch(`${feed.pageUrl ?? ''}/api/status`, { headers: { authorization: 'Bearer another-wrong-token' } });
    await act('/api/session', { token: OPERATE }, {});
    await feed.stop();
    const entries = await (await openFeed(redis, raw)).audit();
    const about = { how: '', by: '', address: '127.0.0.1' };
    expect(entries).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ what: 'pause', by: 'operate', outcome: 'done', subscription: 'broken' }),
        expect.objectContaining({ ...about, what: 'dead drop', outcome: 'refused', count: 1 }),
        expect.objectContaining({ what: 'dead drop', by: 'operate', outcome: 'failed' }),
        expect.objectContaining({ ...about, what: 'status', outcome: 'refused', count: 2 }),
        expect.objectContaining({ what: 'sign in', by: 'operate', how: 'token', outcome: 'done' }),
      ]),
    );
    expect(JSON.stringify(entries)).not.toMatch(/wrong-token|the words of a person|not p1|"p2"/);
  });
});
