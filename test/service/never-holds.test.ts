import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { useCli } from '../support/cli.js';
import { baselined, openFeed } from '../support/feed.js';
import { testFolder } from '../support/folder.js';
import { heardLog } from '../support/heard-log.js';
import { startOtherCrm } from '../support/other-crm.js';
import { startPageFeed } from '../support/page-feed.js';
import { useRedis } from '../support/redis.js';

/** The people have numbers, references and times, and one of their fields is masked. */
async function startCrm() {
  const crm = await startOtherCrm();
  for (const [index, person] of crm.lists.people.entries())
    Object.assign(person, {
      '딜 개수': index,
      등급: index % 2 === 0 ? 'A' : null,
      계약일: '2026-12-01T00:00:00.000Z',
      태그: ['VIP'],
      'VIP 여부': true,
      비고: null,
      전화: '010-1234-5678',
    });
  return crm;
}

const LISTS = { people: { mask: { 전화: 'hash' } } } as const;

describe('conditions that never hold', () => {
  const redis = useRedis();
  const cli = useCli();

  const SAID: [string, object, string[]][] = [
    ['a text of a number', { '딜 개수': { becomes: '9' } }, ['딜 개수 type string / number']],
    ['a text that orders numbers', { 'after.딜 개수': { gt: '2' } }, ['딜 개수 type string / number']],
    ['a number of a text', { 등급: { from: 1, to: 'A' } }, ['등급 type number / string']],
    ['a text that rises', { 등급: { rises: true } }, ['등급 type number / string']],
    ['a number that is near', { 'after.딜 개수': { inNext: '7d' } }, ['딜 개수 type time / number']],
    ['a reference by a part', { 'after.담당자': { contains: '가' } }, ['담당자 type string / reference']],
    ['a text of a yes or no', { 'after.VIP 여부': 'true' }, ['VIP 여부 type string / boolean']],
    ['a masked field', { 'after.전화': '010-1234-5678' }, ['전화 masked string / ']],
    ['a field that no record has', { 없음: { changes: true } }, ['없음 missing  / ']],
    [
      'one of several',
      { any: [{ 등급: { becomes: 'A' } }, { '딜 개수': { becomes: 'x' } }] },
      ['딜 개수 type string / number'],
    ],
    [
      'what may hold',
      { '딜 개수': { becomes: 9 }, 등급: { becomes: 'Z' }, 태그: { becomes: 'VIP' }, 담당자: { becomes: 'x' } },
      [],
    ],
    [
      'what may become empty',
      { '딜 개수': { becomes: null }, 'after.등급': { not: 5 }, 'after.전화': { exists: true } },
      [],
    ],
    ['what no record shows yet', { 'after.비고': 5, 'after.계약일': { ago: '1d', lt: '2026-12-01' } }, []],
    ['what was copied from a masked field', { 'after.전화': '#q7Xa_0bN3kW9sT1r' }, []],
  ];

  it('conditions: what can never hold by the types of the records is said of each rule, and once at a start', async () => {
    const crm = await startCrm();
    const file = join(testFolder(), 'rules.json');
    const rules = SAID.map(([, where], at) => ({
      id: `r${at}`,
      on: ['crm.person.*'],
      to: 'ops',
      where,
      enabled: at < 2,
    }));
    writeFileSync(file, JSON.stringify({ rules }));
    const destinations = { ops: { handler: 'message' as const, url: 'http://127.0.0.1:9', allowHosts: ['127.0.0.1'] } };
    const page = await startPageFeed(redis, { roles: ['poll'], crm, destinations, rules: file, lists: LISTS });
    interface Doubt {
      field: string;
      why: string;
      wants: string[];
      has: string[];
    }
    const answer = await page.get<{ rules: { id: string; doubts: Doubt[] }[] }>('/api/rules');
    const said = ({ field, why, wants, has }: Doubt): string => `${field} ${why} ${wants.join()} / ${has.join()}`;
    expect(Object.fromEntries(answer.rules.map(({ id, doubts }) => [id, doubts.map(said)]))).toEqual(
      Object.fromEntries(SAID.map(([, , expected], at) => [`r${at}`, expected])),
    );
    await page.feed.stop();
    const { log, heard } = heardLog();
    const workspaces = [{ name: 'acme', baseUrl: crm.url, token: crm.token, lists: LISTS }];
    const feed = await openFeed(redis, { workspaces, destinations, rules: file }, { log });
    await feed.start(['dispatch']);
    expect(heard.filter(({ message }) => message === 'condition holds for no stored record')).toMatchObject([
      {
        facts: {
          subscription: 'rule-r0',
          field: '딜 개수',
          reason: 'The condition on "딜 개수" can never hold: it asks for a text, and the records have a number.',
        },
      },
      { facts: { subscription: 'rule-r1' } },
    ]);
  });

  it('conditions: the preview says a value that no record has, and a field of the template', async () => {
    const crm = await startCrm();
    const file = join(testFolder(), 'rules.json');
    const destinations = {
      chat: { handler: 'message' as const, url: 'http://127.0.0.1:9', allowHosts: ['127.0.0.1'] },
    };
    const page = await startPageFeed(redis, { roles: ['poll'], crm, destinations, rules: file });
    const preview = async (more: object) => {
      const rule = { id: 'new', on: ['crm.person.updated'], to: 'chat', ...more };
      return (await (await page.act('/api/rules/preview', { rule })).json()) as object;
    };
    expect(await preview({ where: { 등급: { becomes: 'a ' }, 태그: { becomes: 'VIP' } } })).toMatchObject({
      doubts: [{ why: 'unseen', field: '등급', wants: ['a '], read: crm.lists.people.length }],
    });
    const owner = crm.lists.people.map((one) => one['담당자']).find((one) => one !== null) as {
      id: string;
      name: string;
    };
    const known = { 등급: { becomes: 'A' }, 'after.담당자': [owner.id, owner.name] };
    expect(await preview({ where: known, template: '{{record.등급}} {{담당장}}' })).toMatchObject({
      outcome: 'refused',
    });
    expect(await preview({ where: known, template: '{{record.등급}} {{record.담당장}}님' })).toMatchObject({
      doubts: [{ why: 'template', field: '담당장' }],
    });
  });

  it('conditions: doctor warns of one that can never hold', async () => {
    const crm = await startCrm();
    const where = { '딜 개수': { becomes: '9' } };
    const config = {
      workspaces: [{ name: 'acme', baseUrl: crm.url, token: crm.token }],
      redis: { prefix: redis.keys.prefix },
      subscriptions: [
        {
          name: 'desk',
          on: ['crm.person.*'],
          handler: 'ndjson',
          path: 'desk.ndjson',
          where,
          fields: ['등급', '등 급*'],
        },
      ],
    };
    const folder = await cli({ 'changefeed.config.json': config });
    const doctor = async () => (await folder.call(['doctor'], { REDIS_URL: redis.url, LANG: 'ko_KR.UTF-8' })).stdout;
    expect(await doctor()).not.toContain('desk의 조건');
    const feed = await openFeed(redis, { workspaces: config.workspaces });
    await feed.start(['poll']);
    await baselined(feed);
    expect(await doctor()).toMatch(
      /desk의 조건.*"딜 개수" 조건은 만족될 수 없습니다.*"등 급\*"이\(가\) 있는 레코드가 없습니다/s,
    );
  });
});
