import { expect, it } from 'vitest';
import { languageOf } from '../../src/cli/answers.js';
import { eventLine } from '../../src/cli/print-event.js';
import { noColours } from '../../src/cli/text.js';
import { parseConfig } from '../../src/config/parse.js';
import { problemsOfPrinted } from '../support/cli-schema.js';
import { useCli } from '../support/cli.js';
import { changeEvent } from '../support/events.js';
import { startOtherCrm } from '../support/other-crm.js';
import { useRedis } from '../support/redis.js';

const SECRET = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';
const cli = useCli();
const redis = useRedis();

it('language: with Korean workspaces, status, held, todos and tail speak Korean, and name the lists as commands take them', async () => {
  const crm = await startOtherCrm();
  crm.lists.people = Array.from({ length: 40 }, (_, n) => ({ id: `p${n}`, 이름: `고객 ${n}` }));
  crm.lists.todo = [{ id: 't', 제목: '전화하기', 완료: false, '마지막 날짜': '2026-03-01T00:00:00Z' }];
  const off = { memo: false, history: false, activity: false, organization: false };
  const people = { removals: { confirm: 1, after: '0s' } };
  const config = {
    workspaces: [{ name: 'acme', baseUrl: crm.url, token: crm.token, language: 'ko', lists: { ...off, people } }],
    redis: { prefix: redis.keys.prefix },
  };
  const folder = await cli({ 'changefeed.config.json': config });
  const say = async (...args: string[]): Promise<string> => (await folder.call(args, { REDIS_URL: redis.url })).stdout;
  await say('sweep', 'people', 'todo');
  crm.lists.people.length = 20;
  crm.lists.todo = [{ ...crm.lists.todo[0]!, 완료: true, '완료 날짜': new Date().toISOString() }];
  await say('sweep', 'people', 'todo');
  const held = '40건 중 20건이 한꺼번에 사라져 삭제 이벤트를 보류했습니다.';
  const accept = 'changefeed accept people --workspace acme';
  expect(await say('held')).toMatch(
    new RegExp(
      `^acme 고객: ${held} 예: .*고객 \\d+.*\\. \\d+월 \\d+일 \\(.\\) \\d\\d:\\d\\d부터. 승인: ${accept}, 버리기: `,
      'm',
    ),
  );
  expect(problemsOfPrinted('held', JSON.parse(await say('held', '--json')))).toEqual([]);
  const status = await say('status');
  for (const text of [
    `워크스페이스 "acme", 고객 목록: ${held} 실제 삭제라면 승인하세요: ${accept}`,
    '실행 중인 프로세스가 없습니다',
    '요청 한도 10초당 80회',
  ])
    expect(status).toContain(text);
  expect(await say('accept', 'people')).toContain('20건');
  expect(await say('todos')).toMatch(/전체 TODO +0 +0 +0 +1 /);
  expect(await say('tail', '--from', 'beginning', '--no-follow')).toMatch(/TODO 완료 +전화하기 +완료: 아니요 → 예/);
});

it('language: on a Korean terminal, sweep and doctor speak Korean, and the JSON of doctor stays English', async () => {
  const crm = await startOtherCrm();
  crm.lists.people = Array.from({ length: 40 }, (_, n) => ({ id: `p${n}`, 이름: `고객 ${n}` }));
  const folder = await cli({
    'changefeed.config.json': {
      workspaces: [{ name: 'acme', baseUrl: crm.url, token: crm.token }],
      subscriptions: [
        {
          handler: 'webhook',
          name: 'desk',
          url: 'https://127.0.0.1:1',
          allowHosts: ['127.0.0.1'],
          secret: SECRET,
          on: ['crm.*'],
        },
      ],
      redis: { prefix: redis.keys.prefix },
    },
  });
  const call = (...args: string[]) => folder.call(args, { REDIS_URL: redis.url, LANG: 'ko_KR.UTF-8' });
  const swept = await call('sweep', 'people');
  expect(swept.stderr).toMatch(/✓ people {8}첫 수집 {5}확인 40, 저장 40 {2}\(\d+페이지, /);
  expect(swept.stderr).toContain(
    '첫 수집 완료: 목록 1개, 레코드 40건을 저장했습니다. 지금부터 바뀌는 것이 이벤트가 됩니다.',
  );
  const { stdout } = await call('doctor');
  expect(stdout).toContain('정상    acme: 토큰: 사용 가능');
  expect(stdout).toContain('→ 목록을 한 번 읽은 뒤 "changefeed schema"와 비교하세요.');
  // What a handler says about its target is as in the log.
  const english = stdout
    .split('\n')
    .filter((line) => /\b[a-z]+ [a-z]+ [a-z]+ [a-z]+\b/.test(line) && !/desk/.test(line));
  expect(english).toEqual([]);
  expect((await call('doctor', '--json')).stdout).toContain('"check": "acme: token",');
});

it('language: where workspaces differ, commands speak English', () => {
  const workspaces = (...languages: string[]) =>
    parseConfig({
      workspaces: languages.map((language, n) => ({
        name: `w${n}`,
        baseUrl: 'https://crm.example/api',
        token: 't',
        language,
      })),
    });
  expect([languageOf(workspaces('ko', 'ko'), {}), languageOf(workspaces('ko', 'en'), {})]).toEqual(['ko', 'en']);
});

it('language: an event line is as wide in Korean as in English before its title', () => {
  const event = changeEvent({ record: 'r', sequence: 1 });
  const [english, korean] = ['en' as const, 'ko' as const].map((language) =>
    eventLine(event, { colours: noColours, language }),
  );
  expect(english?.slice(10, 35)).toBe('person updated           ');
  expect(korean?.slice(10, 31)).toBe(`고객 수정${' '.repeat(16)}`);
});
