import { expect, it } from 'vitest';
import { sheetText } from '../../src/actions/sheet.js';
import { eventually } from '../support/eventually.js';
import { appendEvents } from '../support/events.js';
import { startOtherCrm } from '../support/other-crm.js';
import { handlerOf, OPERATOR, personEvent, startPageFeed } from '../support/page-feed.js';
import { useRedis } from '../support/redis.js';

const redis = useRedis();

it('sheet: quotes what divides cells, keeps formulas from running, and writes references by their names', async () => {
  const row = { name: '=1+1', said: 'a "b",\tc', count: -5, who: { id: 'u1', name: '김수정' } };
  const text = async (form: 'text/csv' | 'text/tab-separated-values') => {
    const lines = [];
    for await (const line of sheetText({ columns: ['name', 'said', 'count', 'who', 'none'], rows: [row] }, form))
      lines.push(line);
    return lines.join('');
  };
  expect(await text('text/csv')).toBe('\ufeffname,said,count,who,none\r\n\'=1+1,"a ""b"",\tc",-5,김수정,\r\n');
  expect(await text('text/tab-separated-values')).toBe(
    'name\tsaid\tcount\twho\tnone\r\n\'=1+1\t"a ""b"",\tc"\t-5\t김수정\t\r\n',
  );
});

it('sheet: every table of the page is given whole, as a file, by the filter and period of the question', async () => {
  const crm = await startOtherCrm();
  const grade = (id: string, of: string) => ({
    id,
    이름: `이름 ${id}`,
    등급: of,
    '수정 날짜': `2026-03-0${of}T00:00:00Z`,
  });
  crm.lists.people = [grade('p1', '1'), grade('p2', '1')];
  const { url, feed } = await startPageFeed(redis, {
    crm,
    roles: ['poll', 'dispatch', 'handle'],
    lists: { people: { interval: '1s' } },
    subscriptions: [handlerOf('orders', (subject) => (subject === 'p1' ? 'no' : null))],
  });
  const then = new Date().toISOString();
  const ask = async (path: string, body?: object) => {
    const given = { ...OPERATOR, accept: 'text/csv', 'content-type': 'application/json', 'x-changefeed-action': '1' };
    const sent = body && { method: 'POST', body: JSON.stringify(body) };
    const answer = await fetch(`${url}${path}`, { headers: given, ...sent });
    const [names = '', ...rows] = (await answer.text()).split('\r\n').slice(0, -1);
    return { type: answer.headers.get('content-type'), status: answer.status, names, rows };
  };
  crm.lists.people = [grade('p1', '2'), grade('p2', '2')];
  await eventually(async () => expect(await feed.deadLetters.count()).toBe(1));
  await eventually(async () => expect((await feed.deliveries({ outcome: 'delivered' })).length).toBe(1));

  const changes = await ask('/api/events?list=people&limit=1');
  expect(changes).toMatchObject({ type: 'text/csv; charset=utf-8', status: 200 });
  expect(changes.names).toBe('time,observed,type,record,title,field,before,after,by,event,workspace');
  expect(changes.rows.map((row) => row.split(',').slice(2, 8).join(',')).sort()).toEqual([
    'crm.person.updated,p1,이름 p1,등급,1,2',
    'crm.person.updated,p2,이름 p2,등급,1,2',
  ]);
  expect((await ask(`/api/events?list=people&until=${then}`)).rows).toEqual([]);
  expect(await ask('/api/deliveries?outcome=delivered')).toMatchObject({
    status: 200,
    rows: [expect.stringMatching(/orders,delivered,1,.*,people,p2,evt_/)],
  });
  expect((await ask('/api/dead-letters')).rows[0]).toMatch(/^20.*,orders,no,1,crm\.person\.updated,p1,이름 p1,evt_/);
  expect((await ask('/api/todos')).names).toMatch(/^workspace,of,id,name,open/);
  const list = '/api/lists/acme/people';
  expect((await ask(`${list}/history`, { id: 'p1' })).rows[0]).toMatch(/crm\.person\.updated,등급,1,2,/);
  const now = await ask(`${list}/find`, { names: ['p1'], fields: ['등급'] });
  expect([now.names, now.rows]).toEqual(['id,등급', ['p1,2']]);
  expect((await ask(`${list}/as-of`, { at: then, names: ['p1'], fields: ['등급'] })).rows).toEqual(['p1,1']);
  expect((await ask(`${list}/as-of`, { at: '2020-01-01' })).status).toBe(409);
  expect((await ask('/api/events?workspace=none')).status).toBe(404);
});

it('sheet: a table of more events than are read at once has all of them', async () => {
  const { url } = await startPageFeed(redis);
  await appendEvents(
    redis,
    Array.from({ length: 2_500 }, (_, at) => personEvent(`p${at}`, 1)),
  );
  const answer = await fetch(`${url}/api/events`, { headers: { ...OPERATOR, accept: 'text/tab-separated-values' } });
  expect((await answer.text()).split('\r\n')).toHaveLength(2_502);
});
