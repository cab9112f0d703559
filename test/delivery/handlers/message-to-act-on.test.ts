import { describe, expect, it } from 'vitest';
import type { HandlerContext } from '../../../src/delivery/handlers/handler.js';
import { readBackground } from '../../../src/delivery/handlers/message/background.js';
import { titledText } from '../../../src/delivery/handlers/message/titled-text.js';
import { digestText } from '../../../src/delivery/handlers/message/digest-text.js';
import { message } from '../../../src/delivery/handlers/message/message.js';
import { SERVICES } from '../../../src/delivery/handlers/message/services.js';
import { usualMessage } from '../../../src/delivery/handlers/message/template.js';
import { recordPage } from '../../../src/delivery/run/page-links.js';
import { DigestSums } from '../../../src/delivery/handlers/summary.js';
import { builtInLists } from '../../../src/crm/lists/lists.js';
import type { Actor, ChangeEvent } from '../../../src/events/types.js';
import { formatsFor } from '../../../src/words/format.js';
import { changeEvent, type EventSpec } from '../../support/events.js';
import { chatReader, handlerContext, useReceivers } from '../../support/handler-fixtures.js';

const startReceiver = useReceivers();
const PAGE = 'https://status.example.com/feed/';
const OWNER = { id: 'u1', name: '김영업' };
const OLD = 'c8312a39-0000-7000-8000-000000000001';
const NOW = '0198b869-0000-7000-8000-000000000002';
const STORED: Readonly<Record<string, object>> = {
  [`organization ${OLD}`]: { id: OLD, 이름: '(주)미르테크' },
  [`organization ${NOW}`]: { id: NOW, 이름: '가나상사(주)' },
};

/** As the service gives it: the stored records, and the address of the page. */
function context(): HandlerContext & { reads: string[] } {
  const reads: string[] = [];
  const get = (list: string, id: string) => {
    reads.push(`${list} ${id}`);
    return Promise.resolve((STORED[`${list} ${id}`] as { id: string } | undefined) ?? null);
  };
  const pageOf = (event: ChangeEvent): string | null => recordPage(event, { pageUrl: PAGE, lists: builtInLists });
  return { ...handlerContext({ records: { get }, pageOf }), reads };
}

function event(spec: EventSpec, type?: string): ChangeEvent {
  const made = changeEvent(spec);
  return { ...made, ...(type !== undefined && { type }) };
}

const todo = {
  id: 't1',
  내용: '미팅 준비 (6차)',
  담당자: OWNER,
  organizationId: OLD,
  '마지막 날짜': '2026-11-27T09:00:00Z',
};

const overdue = event(
  {
    record: 't1',
    sequence: 3,
    list: 'todo',
    data: { before: todo, after: todo, changes: [], due: '2026-11-27T09:00:00.000Z' },
  },
  'crm.todo.overdue',
);

async function linesOf(events: readonly ChangeEvent[], of = context()): Promise<string[]> {
  const sums = new DigestSums();
  events.forEach((one, at) => sums.add({ logId: `1772424600000-${at}`, event: one }));
  const digest = sums.summary({ workspace: 'acme', events: () => (async function* () {})() });
  const formats = formatsFor({ language: 'ko', timeZone: 'Asia/Seoul', now: '2026-11-28T00:00:00Z' });
  const background = await readBackground(events, of);
  const text = titledText(digestText(digest, formats, background), SERVICES.slack);
  return text.split('\n').filter((line) => line.startsWith('•'));
}

async function single(one: ChangeEvent, of = context()): Promise<string> {
  return usualMessage(one, { ...chatReader('slack', 'ko'), background: await readBackground([one], of) });
}

describe('a message to act on', () => {
  it('digest: a line says whose it is, who is in charge, until when, and where it is seen', async () => {
    expect(await linesOf([overdue])).toEqual([
      '• 미팅 준비 (6차) – TODO 지연 · (주)미르테크 · 담당 김영업 · 기한 11월 27일 (금) 18:00 · <https://status.example.com/feed/#/records?workspace=acme&amp;list=todo&amp;id=t1|열기>',
    ]);
  });

  it('message: says whose it is, who is in charge, until when, and leads to the page where no CRM address is configured', async () => {
    expect(await single(overdue)).toBe(
      [
        '*미팅 준비 (6차)* – TODO 지연',
        '(주)미르테크 · 담당 김영업',
        '기한: 11월 27일 (금) 18:00',
        '<https://status.example.com/feed/#/records?workspace=acme&amp;list=todo&amp;id=t1|열기>',
      ].join('\n'),
    );
    const linked = { ...overdue, data: { ...overdue.data, link: 'https://crm.example/todo/t1' } };
    expect(await single(linked)).toContain('<https://crm.example/todo/t1|열기>');
    expect(await single(overdue, { ...context(), pageOf: () => null })).not.toContain('열기');
  });

  it('message: names companies instead of ids, both before and after, each read once', async () => {
    const changes = [{ field: 'organizationId', before: OLD, after: NOW }];
    const moved = event({ record: 'p1', sequence: 2, data: { changes } });
    const of = context();
    expect(await single(moved, of)).toContain('• 회사: (주)미르테크 → 가나상사(주)');
    const other = event({ record: 'p2', sequence: 2, data: { changes } });
    const before = of.reads.length;
    expect((await linesOf([moved, other], of)).join()).not.toContain(OLD.slice(0, 8));
    expect(of.reads.length - before).toBe(2);
    const unknown = event({
      record: 'p1',
      sequence: 2,
      data: { changes: [{ field: 'peopleId', before: null, after: NOW }] },
    });
    expect(await single(unknown)).toContain('• 고객: – → 0198b869…');
  });

  it('message: a record that cannot be read costs its name, not the message', async () => {
    const away = { ...context(), records: { get: () => Promise.reject(new Error('Redis is away')) } };
    const changes = [{ field: 'organizationId', before: OLD, after: NOW }];
    expect(await single(event({ record: 'p1', sequence: 2, data: { changes } }), away)).toContain(
      '회사: c8312a39… → 0198b869…',
    );
  });

  it.each<[Partial<Actor>, string]>([
    [{ type: 'user', name: '정하은' }, '변경한 사람: 정하은'],
    [{ type: 'workflow', name: '데이터 이관' }, '자동화 ‘데이터 이관’에서 변경'],
    [{ type: 'api', name: '온보딩' }, '연동 ‘온보딩’에서 변경'],
    [{ type: 'workflow', name: null }, '워크플로우에서 변경'],
    [{ type: 'field', name: null }, '자동으로 변경됨'],
  ])('message: who changed it: %j', async (given, text) => {
    const actor: Actor = { type: 'user', id: null, name: null, ...given };
    expect(await single(event({ record: 'p1', sequence: 2, data: { actor } }))).toContain(` (${text})`);
  });

  it('digest: all events of a record are one line, from the first value to the last', async () => {
    const graded = (sequence: number, before: string, after: string) =>
      event({ record: 'p1', sequence, data: { changes: [{ field: '등급', before, after }] } });
    const back = [graded(2, 'C', 'B'), graded(3, 'B', 'A')];
    const lines = await linesOf([
      ...back,
      overdue,
      event({ ...{ record: 'p2', sequence: 1 }, verb: 'created' }),
      event({ record: 'p2', sequence: 2 }),
    ]);
    expect(lines).toHaveLength(3);
    expect(lines[0]).toMatch(/^• 가상인 3 – 고객 수정 · 등급: C → A · </);
    expect(lines[2]).toMatch(/^• 가상인 2 – 고객 생성 · </);
    expect((await linesOf([graded(2, 'B', 'A'), graded(3, 'A', 'B')])).join()).not.toContain('등급');
  });

  it('digest: a completed todo has the change that an edit made beside it, and no due time', async () => {
    const changes = [{ field: '완료', before: false, after: true }];
    const after = { ...todo, 완료: true };
    const edit = event({
      ...{ record: 't1', sequence: 4, list: 'todo' },
      data: { before: todo, after, changes: [...changes, { field: '중요도', before: '하', after: '상' }] },
    });
    const done = event(
      { record: 't1', sequence: 5, list: 'todo', data: { before: todo, after, changes } },
      'crm.todo.completed',
    );
    const [line] = await linesOf([edit, done]);
    expect(line).toMatch(/^• 미팅 준비 \(6차\) – TODO 완료 · \(주\)미르테크 · 담당 김영업 · 중요도: 하 → 상 · </);
  });

  it('digest: ten records are named however often each changed, and the others are counted', () => {
    const sums = new DigestSums();
    for (let at = 0; at < 300; at += 1)
      sums.add({ logId: `1-${at}`, event: changeEvent({ record: `p${at % 12}`, sequence: at }) });
    const { records, count } = sums.summary({ workspace: 'acme', events: () => (async function* () {})() });
    expect([count, records.length, records[0]?.count, records[0]?.events.length]).toEqual([300, 10, 25, 20]);
    expect(records[0]?.events.map(({ data }) => data.sequence)).toEqual([
      0,
      ...Array.from({ length: 19 }, (_value, at) => 12 * (at + 6)),
    ]);
  });

  it('digest: a link is whole or not there, where a service takes little text', () => {
    const link = { text: 'Open', url: `https://status.example.com/#/records?id=${'x'.repeat(200)}` };
    const lines = Array.from({ length: 12 }, (_value, at) => ({ text: `• line ${at}`, link }));
    const text = titledText({ title: 'many', lines, link }, SERVICES.discord);
    expect(text.length).toBeLessThanOrEqual(SERVICES.discord.longest);
    expect(text).toContain('• line 11');
    expect(text.split(link.url).length - 1).toBe(text.split('[Open](<').length - 1);
    expect(text.split('[Open](<').length - 1).toBeGreaterThan(4);
  });

  it('message: is posted with its link, and {{link}} and {{owner}} say the same', async () => {
    const receiver = await startReceiver();
    const template = '{{title}} {{owner}} {{link}}';
    const chat = message({ name: 'chat', url: receiver.url, allowHosts: ['127.0.0.1'], template });
    await chat.handle(overdue, context());
    await chat.close?.();
    const { text } = JSON.parse(receiver.received[0]?.body ?? '') as { text: string };
    expect(text).toBe(
      '미팅 준비 (6차) 김영업 https://status.example.com/feed/#/records?workspace=acme&list=todo&id=t1',
    );
  });
});
