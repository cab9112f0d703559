import { describe, expect, it } from 'vitest';
import { eventLine, eventWords, recordTitle } from '../../src/cli/print-event.js';
import { noColours } from '../../src/cli/text.js';
import { differingParts, textOfValue } from '../../src/events/describe.js';
import type { ChangeEvent } from '../../src/events/types.js';
import { readTemplate, renderTemplate } from '../../src/delivery/handlers/message/template.js';
import { toColumnValue } from '../../src/delivery/handlers/postgres/row.js';
import { viewOf } from '../../src/ops/server/page/event-view.js';
import { chatReader, sampleEvent } from '../support/handler-fixtures.js';

function titlesOf(event: ChangeEvent, record: Readonly<Record<string, unknown>>): (string | null | undefined)[] {
  const template = readTemplate('{{title}}');
  if (template.outcome === 'refused') throw new Error(template.allowed);
  return [
    eventWords(event, 80).title,
    recordTitle({ id: event.subject, ...record }, 80),
    viewOf({ logId: '1-0', event }).title,
    renderTemplate(template.template, event, chatReader()),
  ];
}

describe('describe', () => {
  it.each([
    ['a person', { 이름: '가상인' }, '가상인'],
    ['a todo', { 제목: '전화하기', 내용: '통화 내용', type: 'call' }, '전화하기'],
    ['a todo without a title', { 제목: null, 내용: '통화\n 내용' }, '통화 내용'],
    ['a memo', { text: '첫 줄\n둘째 줄' }, '첫 줄 둘째 줄'],
    ['a record of an own list', { name: '상품 1', type: 'product' }, '상품 1'],
    ['a row of a history', { fieldName: '담당자', fieldValue: { _id: 'u', name: '이가상' } }, '담당자: 이가상'],
    ['a row of a history without a value', { fieldName: '담당자', fieldValue: null }, '담당자'],
    ['an activity', { type: 'emailOpen' }, 'emailOpen'],
  ])('describe: terminal, page and chat name %s alike', (_what, record, title) => {
    const event = sampleEvent();
    const image = { id: event.subject, ...record };
    const updated = { ...event, data: { ...event.data, before: null, after: image, changes: [] } };
    const deleted = { ...event, data: { ...event.data, before: image, after: null, changes: [] } };
    expect(titlesOf(updated, record)).toEqual([title, title, title, title]);
    expect(titlesOf(deleted, record)).toEqual([title, title, title, title]);
    expect(eventLine(updated, { colours: noColours })).toContain(`  ${title}`);
  });

  it('describe: a record without a name is called by its id, or by nothing where the id stands anyway', () => {
    const event = sampleEvent('r-1');
    const data = { ...event.data, before: null, after: { id: 'r-1', 이름: ' ' }, changes: [] };
    expect(titlesOf({ ...event, data }, { 이름: ' ' })).toEqual(['r-1', undefined, null, 'r-1']);
  });

  it.each([
    [{ id: 'u', name: '담당A' }, '담당A'],
    [[{ id: 't', name: '1팀' }, null, { id: 's', name: '2팀' }], '1팀, —, 2팀'],
    [{ a: 1 }, '{"a":1}'],
    [0, '0'],
    [false, 'false'],
    ['', null],
    [[], null],
    [undefined, null],
  ])('describe: the text of %j is %j', (value, text) => {
    expect(textOfValue(value)).toBe(text);
  });

  it('describe: a reference has its name in a column of text too', () => {
    expect(toColumnValue({ id: 'u', name: '담당A' }, 'text', 'UTC')).toBe('담당A');
  });

  it('describe: of two long texts, terminal, page and chat show the part that differs', () => {
    const [head, tail] = ['가'.repeat(300), '나'.repeat(300)];
    const [before, after] = [`${head}갑${tail}`, `${head}을${tail}`];
    expect(differingParts(before, after)).toEqual(['…가가가가갑나나나나…', '…가가가가을나나나나…']);
    const event = sampleEvent();
    const changed = { ...event, data: { ...event.data, changes: [{ field: 'text', before, after }] } };
    const chat = readTemplate('{{changes}}');
    if (chat.outcome === 'refused') throw new Error(chat.allowed);
    const shown = '…가가가가갑나나나나… → …가가가가을나나나나…';
    expect(eventLine(changed, { colours: noColours })).toContain(shown);
    expect(renderTemplate(chat.template, changed, chatReader())).toContain(shown);
    const [view] = viewOf({ logId: '1-0', event: changed }).changes;
    const context = ['가', '나'].map((one) => one.repeat(24)) as [string, string];
    expect(view).toEqual({
      field: 'text',
      before: { text: `…${context.join('갑')}…`, cut: true, type: 'text' },
      after: { text: `…${context.join('을')}…`, cut: true, type: 'text' },
      actor: null,
    });
  });
});
