import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { CHROMIUM, expectSound, NARROW, useBrowser } from '../../../support/browser.js';
import { testFolder } from '../../../support/folder.js';
import { startOtherCrm } from '../../../support/other-crm.js';
import { startPageFeed } from '../../../support/page-feed.js';
import { useRedis } from '../../../support/redis.js';
import { written } from '../../../support/todos.js';

describe.skipIf(CHROMIUM === null)('status page: a rule of a report', () => {
  const redis = useRedis();
  const browse = useBrowser();

  it('page: a morning report is made by two clicks, shows what it would say, and opens again as it was', async () => {
    const crm = await startOtherCrm();
    crm.lists.todo = [
      { ...written('t1', { due: '2026-03-02T01:00:00.000Z', owner: { id: 'u1', name: '김영업' } }), id: 't1' },
    ];
    const rules = join(testFolder(), 'rules.json');
    const chat = { handler: 'message' as const, service: 'slack' as const, url: 'https://hooks.slack.com/services/x' };
    const { url } = await startPageFeed(redis, {
      ...{ crm, rules, roles: ['poll', 'dispatch', 'handle'] },
      destinations: { '영업 채팅': chat },
    });
    const { page, complaints } = await browse(`${url}/#/rules?rule=new`, { locale: 'ko-KR', viewport: NARROW });
    await page.getByRole('button', { name: '매일 아침: 미완료와 지연 TODO' }).click();
    await page.getByText('김영업: 완료 0건, 지연 1건').waitFor();
    await page.getByRole('combobox', { name: '요일' }).selectOption('daily');
    await page.getByRole('heading', { name: '매일 09:00에 미완료와 지연 TODO를 영업 채팅에 보고' }).waitFor();
    await expectSound(page);
    await page.getByRole('button', { name: '저장하고 켜기' }).click();
    const edit = page.getByRole('link', { name: '수정' });
    await edit.waitFor();
    const [saved] = (JSON.parse(readFileSync(rules, 'utf8')) as { rules: { id: string }[] }).rules;
    expect(saved).toEqual({
      ...{
        id: saved?.id,
        to: '영업 채팅',
        language: 'ko',
        title: '매일 09:00에 미완료와 지연 TODO를 영업 채팅에 보고',
      },
      report: { what: 'todos', at: '09:00', days: 'daily' },
    });
    await edit.click();
    await page.getByText('지금 보낸다면 이렇게 보냅니다.').waitFor();
    expect(complaints).toEqual([]);
  });
});
