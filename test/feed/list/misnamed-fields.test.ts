/** Options that name a field which no record has: a misspelled mask hides nothing, and the feed says so until the name is right. */
import { expect, it } from 'vitest';
import { parseConfig } from '../../../src/config/parse.js';
import type { ListInput } from '../../../src/config/schema.js';
import { useCli } from '../../support/cli.js';
import { openFeed } from '../../support/feed.js';
import { startOtherCrm } from '../../support/other-crm.js';
import { useRedis } from '../../support/redis.js';

const redis = useRedis();
const cli = useCli();

async function twelve() {
  const crm = await startOtherCrm();
  crm.lists.people = Array.from({ length: 12 }, (_, n) => ({
    ...{ id: `p${n}`, 이름: `사람 ${n}`, 전화: '010-7788-1234', 동의: n % 2 === 0, 담당자: { id: 'u1', name: '김' } },
  }));
  const configured = (people: ListInput) => ({
    workspaces: [{ name: 'acme', baseUrl: crm.url, token: crm.token, lists: { people } }],
  });
  /** A process of its own sweeps, twice: the second time no page has changed. */
  const said = async (people: ListInput): Promise<string[][]> => {
    const feed = await openFeed(redis, configured(people));
    const found: string[][] = [];
    for (let sweep = 0; sweep < 2; sweep += 1) {
      await feed.sweep({ lists: ['people'] });
      const { problems } = await feed.status();
      found.push(problems.filter(({ kind }) => kind === 'list.misnamed').map(({ message }) => message));
    }
    await feed.stop();
    return found;
  };
  return { crm, said, configured };
}

it('misnamed fields: what options name and no record has is a problem until the name is right, also where a mask drops the field', async () => {
  const { said } = await twelve();
  const [first, second] = await said({
    mask: { '전화 번호': 'drop', '담당자님.name': 'hash', 전화: 'drop' },
    ignore: ['비고*'],
  });
  expect(second).toEqual(first);
  expect(first).toEqual([
    'Workspace "acme", list "people": no record has a field with the name in mask "전화 번호", mask "담당자님.name", ignore "비고*". What a mask was to hide may be stored and delivered as it is. Correct the name, or take it out of the configuration. It is the name of a whole field: one for 담당자 covers all that is in it. The fields are in changefeed schema people.',
  ]);
  expect(
    await said({ mask: { 전화: 'drop', 동의: 'hash', '*': 'last4' }, ignore: ['전화', '이름'], refreshed: ['동*'] }),
  ).toEqual([[], []]);
  const [unmasked] = await said({ only: ['등급'] });
  expect(unmasked).toEqual([expect.not.stringContaining('mask')]);
});

it('misnamed fields: a field that the CRM renames opens its mask, which is said', async () => {
  const { crm, said } = await twelve();
  const mask = { 전화: 'drop', 동의: 'hash' } as const;
  expect(await said({ mask })).toEqual([[], []]);
  crm.lists.people = crm.lists.people.map(({ 전화, 동의, ...row }) => ({ ...row, 휴대폰: 전화, '동의 여부': 동의 }));
  expect((await said({ mask })).at(-1)).toEqual([expect.stringContaining('in mask "전화", mask "동의".')]);
});

it('misnamed fields: doctor says each, and a pattern that leads into a reference is refused at once', async () => {
  const { said, configured } = await twelve();
  const options = { mask: { '전화 번호': 'drop' } } as const;
  await said(options);
  const config = { ...configured(options), redis: { prefix: redis.keys.prefix } };
  const folder = await cli({ 'changefeed.config.json': config });
  const { stdout } = await folder.call(['doctor'], { REDIS_URL: redis.url, LANG: 'ko_KR.UTF-8' });
  expect(stdout).toMatch(/people: mask.*"전화 번호"에 해당하는 필드가 있는 레코드가 없습니다/s);
  expect(() => parseConfig(configured({ mask: { '담당자.name': 'hash' } }))).toThrow(
    '"담당자.name" leads into a field, and options name whole fields: write "담당자"',
  );
});
