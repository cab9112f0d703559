import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { CHROMIUM, expectSound, NARROW, seriousFindings, useBrowser, WIDE } from '../../../support/browser.js';
import { appendEvents, changeEvent } from '../../../support/events.js';
import { testFolder } from '../../../support/folder.js';
import { useReceivers } from '../../../support/handler-fixtures.js';
import { OPERATE, startPageFeed } from '../../../support/page-feed.js';
import { useRedis } from '../../../support/redis.js';

interface OpenOptions {
  roles?: ('poll' | 'dispatch' | 'handle')[];
  /** What the receiver answers. */
  status?: number;
  /** The rules of the file at the start. */
  first?: object[];
}

const SECRET = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;

describe.skipIf(CHROMIUM === null)('rules in a browser', () => {
  const redis = useRedis();
  const browse = useBrowser();
  const startReceiver = useReceivers();

  const open = async ({ roles = ['poll'], status = 200, first = [] }: OpenOptions = {}) => {
    const receiver = await startReceiver(() => ({ status }));
    const folder = testFolder();
    const rules = join(folder, 'rules.json');
    if (first.length > 0) writeFileSync(rules, JSON.stringify({ rules: first }));
    const allowHosts = ['127.0.0.1'];
    const destinations = {
      '영업 채팅': { handler: 'message' as const, url: `${receiver.url}/chat`, allowHosts },
      ops: { handler: 'webhook' as const, url: `${receiver.url}/hook`, secret: SECRET, allowHosts },
      mail: {
        handler: 'email' as const,
        server: 'smtp://127.0.0.1:1',
        sender: 'crm@acme.example',
        to: 'a@acme.example',
      },
    };
    const { url } = await startPageFeed(redis, { roles, destinations, rules });
    const changed = (list: 'people' | 'organization', field: string, before: unknown, after: unknown) => {
      const event = changeEvent({ record: 'p1', sequence: 1, list });
      const images = {
        before: { ...event.data.before!, [field]: before },
        after: { ...event.data.after!, [field]: after },
      };
      return appendEvents(redis, [
        { ...event, data: { ...event.data, ...images, changes: [{ field, before, after }] } },
      ]);
    };
    const saved = () => (JSON.parse(readFileSync(rules, 'utf8')) as { rules: object[] }).rules;
    return { url, file: rules, receiver, changed, saved };
  };

  it('rules: by choosing, "이름 becomes x → chat", seen on last week, tried, and switched on, in Korean and wide', async () => {
    const { url, receiver, changed, saved } = await open();
    await changed('people', '이름', '김하나', '김한나');
    const { page, complaints } = await browse(`${url}/#/rules`, { viewport: WIDE, locale: 'ko-KR' });
    await page.getByRole('link', { name: '새 규칙' }).click();
    await page.getByRole('combobox', { name: '목록' }).selectOption('고객');
    await page.getByRole('button', { name: '조건 추가' }).click();
    const field = page.getByRole('combobox', { name: '필드', exact: true });
    await field.selectOption('이름');
    expect(await field.getByRole('option', { name: '수정 날짜' }).count()).toBe(0);
    await page.getByLabel('값', { exact: true }).fill('김한나');
    await page.getByRole('heading', { name: '고객의 이름이 김한나가 되면 영업 채팅에 바로 알림' }).waitFor();
    await page.getByText('1건이 해당합니다').waitFor();
    await page.getByText('• 이름: 김하나 → 김한나').waitFor();
    expect(receiver.received).toEqual([]);
    expect(await seriousFindings(page)).toEqual([]);
    await page.getByRole('button', { name: '하나 보내 보기' }).click();
    await page.getByRole('dialog').getByRole('button', { name: '하나 보내 보기' }).click();
    await page.getByText('영업 채팅에 보냈습니다:').waitFor();
    expect(receiver.received.map(({ body }) => body)).toEqual([
      expect.stringContaining('[테스트] *김한나* – 고객 수정'),
    ]);
    await page.getByRole('button', { name: '닫기' }).click();
    await page.getByRole('button', { name: '저장하고 켜기' }).click();
    await page.getByRole('listitem').getByText('켜짐').waitFor();
    expect(saved()).toEqual([
      expect.objectContaining({
        on: ['crm.person.updated'],
        where: { 이름: { becomes: '김한나' } },
        to: '영업 채팅',
        title: '고객의 이름이 김한나가 되면 영업 채팅에 바로 알림',
      }),
    ]);
    await page.getByRole('button', { name: '변경 기록' }).click();
    await page.getByRole('button', { name: '보기', exact: true }).click();
    await page.getByText(/operate · 테스트 전송/).waitFor();
    expect(complaints).toEqual([]);
  });

  it('rules: a digest at 09:00 and a webhook on a rising number, with the keyboard, in English and narrow', async () => {
    const { url, receiver, changed, saved } = await open();
    await changed('organization', '직원수', 1, 3);
    const { page } = await browse(`${url}/#/rules?rule=new`, {
      viewport: NARROW,
      locale: 'en-GB',
      colorScheme: 'dark',
    });
    const choose = async (name: string, option: string): Promise<void> => {
      await page.getByRole('combobox', { name, exact: true }).focus();
      await page.getByRole('combobox', { name, exact: true }).selectOption(option);
    };
    const press = (name: string): Promise<void> => page.getByRole('button', { name, exact: true }).press('Enter');
    await choose('List', 'organization');
    await choose('Send', 'in one message at a time of day');
    // One event reads as a single message, as it will in the chat.
    await page.getByText('The message of').waitFor();
    await page.getByText(/– organization updated\s+• 직원수: 1 → 3/).waitFor();
    await expectSound(page);
    await press('Save and switch on');
    await page.getByRole('link', { name: 'New rule' }).press('Enter');
    await choose('List', 'organization');
    await press('Add a condition');
    await choose('Field', '직원수');
    await page.getByLabel('By at least (3 or 20%)').fill('2');
    await choose('Destination', `ops (${new URL(receiver.url).host})`);
    await page
      .getByRole('heading', { name: 'When 직원수 of an organization rises by at least 2, notify ops, at once' })
      .waitFor();
    await page.getByText('1 match in 1 changes').waitFor();
    await page.getByLabel('Why not for …? (name or id)').fill('가상인 1');
    await page.getByText('it would be sent.').waitFor();
    await press('Send me one');
    await page.keyboard.press('Enter');
    await page.getByText('Sent to ops:').waitFor();
    expect(JSON.parse(receiver.received[0]?.body ?? '')).toMatchObject({ subject: 'p1', data: { test: true } });
    await press('Close');
    await press('Save and switch on');
    await page.getByRole('heading', { name: /rises by at least 2/ }).waitFor();
    expect(await seriousFindings(page)).toEqual([]);
    expect(saved()).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ digest: { at: '09:00' }, to: '영업 채팅', class: 'edited' }),
        expect.objectContaining({ where: { 직원수: { rises: true, by: 2 } }, to: 'ops' }),
      ]),
    );
  });

  it('rules: a mailbox gets one mail in the morning or each event, and a chat may mention the person in charge', async () => {
    const { url, saved } = await open();
    const { page } = await browse(`${url}/#/rules?rule=new`, { viewport: WIDE, locale: 'en-GB' });
    const choose = (name: string, option: string) =>
      page.getByRole('combobox', { name, exact: true }).selectOption(option);
    const mention = page.getByRole('checkbox', { name: 'Mention the person in charge' });
    const save = async () => {
      await page.getByRole('button', { name: 'Save and switch on' }).click();
      await page.getByRole('link', { name: 'New rule' }).click();
    };
    await mention.check();
    await save();
    await choose('Destination', 'mail');
    await page.getByRole('heading', { name: /notify mail, in one message, every day at 09:00/ }).waitFor();
    expect(await mention.count()).toBe(0);
    expect(await page.getByRole('option', { name: 'at once, with another limit a minute' }).count()).toBe(0);
    await save();
    await choose('Destination', 'mail');
    await choose('Send', 'at once (a chat: at most 20 a minute)');
    await page.getByRole('heading', { name: /notify mail, at once/ }).waitFor();
    await save();
    // In the file, they stand by their ids.
    const options = saved().map((rule) => {
      const { to, mention, digest } = rule as { to: string; mention?: boolean; digest?: unknown };
      return JSON.stringify({ to, mention, digest });
    });
    expect(options.sort()).toEqual([
      '{"to":"mail","digest":false}',
      '{"to":"mail","digest":{"at":"09:00"}}',
      '{"to":"영업 채팅","mention":true}',
    ]);
    await expectSound(page);
  });

  it('rules: any of two conditions of one field, saved, read in Korean, and changed to all of them, with the keyboard', async () => {
    const { url, file, changed, saved } = await open();
    await changed('organization', '직원수', 3, 1);
    const { page } = await browse(`${url}/#/rules?rule=new`, { viewport: NARROW });
    const press = (name: string): Promise<void> => page.getByRole('button', { name, exact: true }).press('Enter');
    const choose = async (name: string, option: string): Promise<void> => {
      await page.getByRole('combobox', { name, exact: true }).last().focus();
      await page.getByRole('combobox', { name, exact: true }).last().selectOption(option);
    };
    await choose('List', 'organization');
    await press('Add a condition');
    await choose('Field', '직원수');
    await press('Add a condition');
    await choose('Field', '직원수');
    await choose('Is or does', 'falls');
    await page.getByText('Two conditions of one field').waitFor();
    await page.getByRole('combobox', { name: 'Conditions that must hold' }).focus();
    await page.keyboard.press('ArrowDown');
    const sentence = 'When 직원수 of an organization rises or 직원수 falls, notify 영업 채팅, at once';
    await page.getByRole('heading', { name: sentence }).waitFor();
    await page.getByText('1 match in 1 changes').waitFor();
    expect(await seriousFindings(page)).toEqual([]);
    await press('Save and switch on');
    await page.getByRole('listitem').getByRole('heading', { name: sentence }).waitFor();
    const where = { any: [{ 직원수: { rises: true } }, { 직원수: { falls: true } }] };
    expect(saved()).toEqual([expect.objectContaining({ where, title: sentence })]);

    const { page: korean } = await browse(`${url}/#/rules`, { locale: 'ko-KR' });
    await korean.getByRole('heading', { name: '회사의 직원수가 늘거나 직원수가 줄면 영업 채팅에 바로 알림' }).waitFor();
    await korean.getByRole('link', { name: '수정' }).press('Enter');
    await korean.getByRole('combobox', { name: '필드', exact: true }).last().selectOption('이름');
    await korean.getByRole('combobox', { name: '만족할 조건' }).selectOption('모두');
    await korean.getByLabel('값', { exact: true }).fill('가상');
    const kept = readFileSync(file, 'utf8');
    writeFileSync(file, '{ "rules": [ }');
    await korean.getByRole('button', { name: '저장', exact: true }).press('Enter');
    await korean
      .getByRole('alert')
      .getByText(/^Nothing was saved, as the file is not valid: .*:1:14: /)
      .waitFor();
    writeFileSync(file, `${kept}\n`);
    await korean.getByRole('button', { name: '저장', exact: true }).press('Enter');
    await korean.getByRole('alert').getByText('다시 하세요').waitFor();
    await korean.getByRole('heading', { name: '회사의 직원수가 늘고 이름이 가상이 되면' }).waitFor();
    await korean.getByRole('button', { name: '저장', exact: true, disabled: false }).press('Enter');
    await korean.getByRole('listitem').getByRole('heading', { name: '회사의 직원수가 늘고' }).waitFor();
    const all = { 직원수: { rises: true }, 이름: { becomes: '가상' } };
    expect(saved()).toEqual([expect.objectContaining({ where: all })]);
    expect(await seriousFindings(korean)).toEqual([]);
  });

  it('rules: a new one begins with a ready one, which is changed as any other and saved', async () => {
    const { url, saved } = await open();
    const { page, complaints } = await browse(`${url}/#/rules?rule=new`, { viewport: NARROW, locale: 'ko-KR' });
    const begin = async (name: string, sentence: string): Promise<void> => {
      await page.getByRole('group', { name: '이렇게 시작:' }).getByRole('button', { name }).click();
      await page.getByRole('heading', { name: sentence }).waitFor();
    };
    await begin('TODO 지연', 'TODO가 기한이 지나면 영업 채팅에 바로 알림');
    await begin('30일 동안 변경 없음', '고객이 30일 동안 바뀌지 않으면 영업 채팅에 바로 알림');
    await expectSound(page);
    await page.getByLabel('며칠', { exact: false }).fill('20');
    await page.getByRole('heading', { name: '고객이 20일 동안 바뀌지 않으면 영업 채팅에 바로 알림' }).waitFor();
    await page.getByRole('button', { name: '저장하고 켜기' }).click();
    await page.getByRole('listitem').getByText('켜짐').waitFor();
    expect(saved()).toEqual([
      expect.objectContaining({ on: ['crm.person.unchanged'], unchanged: { for: '20d' }, to: '영업 채팅' }),
    ]);
    await page.goto(`${url}/#/rules?rule=new`);
    await begin('담당자 변경', '고객의 담당자가 바뀌면 영업 채팅에 바로 알림');
    expect(await page.getByRole('group', { name: '이렇게 시작:' }).count()).toBe(0);
    expect(complaints).toEqual([]);
  });

  it('rules: one that is refused says so on its card, is paused and resumed there, removed, and undone', async () => {
    const rule = {
      id: 'a',
      to: '영업 채팅',
      on: ['crm.person.updated'],
      where: { 이름: { becomes: '김한나' } },
      language: 'ko',
    };
    const { url, changed, saved } = await open({ roles: ['dispatch', 'handle'], status: 404, first: [rule] });
    const { page } = await browse(`${url}/#/rules`, { locale: 'ko-KR', viewport: NARROW });
    const card = page.getByRole('listitem').filter({ has: page.getByRole('button', { name: '삭제' }) });
    const press = async (name: RegExp): Promise<void> => {
      await card.getByRole('button', { name }).press('Enter');
      await page.getByRole('dialog').getByRole('button').first().press('Enter');
    };
    await card.getByText('켜짐').waitFor();
    await changed('people', '이름', '김하나', '김한나');
    await card.getByText(/부터 실패 중/).waitFor();
    await card.getByText(/에서 404\(으\)로 답했습니다/).waitFor();
    expect(await card.getByText('켜짐').count()).toBe(0);
    await press(/^일시 중지/);
    await card.getByText('일시 중지됨').waitFor();
    await expectSound(page);
    await press(/^다시 시작/);
    await card.getByText(/부터 실패 중/).waitFor();
    await press(/^삭제/);
    await page.getByText('아직 규칙이 없습니다.').waitFor();
    await page.getByText(/삭제함\(.*까지 되돌릴 수 있음\)/).waitFor();
    await page.getByRole('button', { name: '되돌리기' }).press('Enter');
    await page.getByRole('dialog').getByRole('button', { name: '되돌리기' }).press('Enter');
    await card.waitFor();
    expect(await page.getByText('되돌릴 수 있음').count()).toBe(0);
    expect(saved()).toEqual([rule]);
  });

  it('rules: what is not saved is kept over a click on the menu and the end of the session', async () => {
    const { url } = await open();
    const { page } = await browse(`${url}/#/rules?rule=new`, { locale: 'ko-KR' });
    await page.getByRole('combobox', { name: '목록' }).selectOption('회사');
    await page.getByRole('button', { name: '조건 추가' }).click();
    await page.getByRole('combobox', { name: '필드', exact: true }).selectOption('직원수');
    await page.getByRole('combobox', { name: '조건', exact: true }).selectOption('이상');
    await page.getByLabel('값', { exact: true }).fill('1천만명');
    await page.getByText('숫자로 읽을 수 없습니다').waitFor();
    expect(await page.getByRole('button', { name: '저장하고 켜기' }).isDisabled()).toBe(true);
    await page.getByLabel('값', { exact: true }).fill('1천만');
    const sentence = page.getByRole('heading', { name: '회사의 직원수가 10,000,000 이상이면' });
    await sentence.waitFor();
    await page.getByRole('link', { name: '문제' }).click();
    await page.getByRole('link', { name: '규칙', exact: true }).click();
    await page.getByText('저장하지 않은 새 규칙이 있습니다.').waitFor();
    await page.getByRole('link', { name: '이어서 쓰기' }).click();
    await sentence.waitFor();
    expect(await page.getByLabel('값', { exact: true }).inputValue()).toBe('1천만');
    await page.context().clearCookies();
    await page.getByText('12시간이 지났거나').waitFor();
    expect(await seriousFindings(page)).toEqual([]);
    await page.getByLabel('토큰').fill(OPERATE);
    await page.keyboard.press('Enter');
    await sentence.waitFor();
    await page.getByText('저장하지 않은 내용을 불러왔습니다.').waitFor();
    await page.getByRole('button', { name: '버리기' }).click();
    await page.getByRole('heading', { name: '고객이 수정되면' }).waitFor();
    await page.getByRole('link', { name: '규칙', exact: true }).click();
    await page.getByRole('link', { name: '새 규칙' }).waitFor();
    expect(await page.getByText('저장하지 않은').count()).toBe(0);
  });
});
