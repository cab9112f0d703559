import { describe, expect, it } from 'vitest';
import { DigestSums } from '../../../src/delivery/handlers/summary.js';
import type { ChangeEvent } from '../../../src/events/types.js';
import type { DigestSummary } from '../../../src/delivery/handlers/handler.js';
import { digestText } from '../../../src/delivery/handlers/message/digest-text.js';
import { message } from '../../../src/delivery/handlers/message/message.js';
import { buildSubscription } from '../../../src/delivery/handlers/registry.js';
import { formatsFor } from '../../../src/words/format.js';
import { changeEvent } from '../../support/events.js';
import { handlerContext, useReceivers } from '../../support/handler-fixtures.js';

const startReceiver = useReceivers();
const OWNERS = ['김가상', '이가상'].map((name, at) => ({ id: `u${at}`, name }));

/** Twelve new people, a change of one, and a completed todo. */
function someEvents(): ChangeEvent[] {
  const people = Array.from({ length: 12 }, (_, at) => changeEvent({ record: `p${at}`, sequence: 1, verb: 'created' }));
  const named = people.map((event, at) => {
    const after = { id: event.subject, 이름: `가상 고객 ${at}`, 담당자: OWNERS[at % 2] };
    return { ...event, data: { ...event.data, after } };
  });
  const updated = changeEvent({ record: 'old', sequence: 2 });
  const changes = [
    { field: '담당자', before: OWNERS[0], after: OWNERS[1] },
    { field: '등급', before: 'B', after: 'A' },
    { field: '딜 개수', before: 1, after: 2 },
  ];
  const after = { id: 'old', 이름: '가상 <고객> 0', 담당자: OWNERS[1] };
  const todo = changeEvent({ record: 't0', sequence: 1, list: 'todo' });
  const done = {
    ...todo,
    type: 'crm.todo.completed',
    data: {
      ...todo.data,
      after: { id: 't0', 내용: '견적서\n보내기' },
      related: { person: { id: 'p1', title: '가상 고객 1' }, deal: null },
    },
  };
  return [{ ...updated, data: { ...updated.data, changes, after } }, done, ...named];
}

function digestOf(events: readonly ChangeEvent[], link: string | null = null): DigestSummary {
  const sums = new DigestSums();
  events.forEach((event, at) => sums.add({ logId: `1772424600000-${at}`, event }));
  return sums.summary({ workspace: 'acme', events: () => (async function* () {})(), linkOf: () => link });
}

describe('a digest as a message', () => {
  it('digest: says what happened, to whom, the first lines, how many more, and where', () => {
    const formats = formatsFor({ language: 'en', timeZone: 'Asia/Seoul', now: '2026-03-02T04:10:00.000Z' });
    const { title, lines, link } = digestText(digestOf(someEvents(), 'https://status.example.com/#/changes'), formats);
    expect(title).toBe('14 changes in acme: 12 people created, 1 person update, 1 todo completed');
    expect(lines).toEqual([
      'By person in charge: 이가상 7, 김가상 6, nobody 1',
      '• 가상 <고객> 0 – person updated · 담당자: 김가상 → 이가상 · 등급: B → A · +1',
      '• 견적서 보내기 – todo completed · 가상 고객 1',
      ...Array.from(
        { length: 8 },
        (_, at) => `• 가상 고객 ${at} – person created · in charge: ${OWNERS[at % 2]?.name ?? ''}`,
      ),
      '… and 4 more',
    ]);
    expect(link).toEqual({ text: 'Open the status page', url: 'https://status.example.com/#/changes' });
  });

  it('digest: adds up the types and the people beyond the first ones', () => {
    const verbs = ['created', 'updated', 'deleted'] as const;
    const events = (['people', 'organization', 'memo'] as const).flatMap((list) =>
      verbs.map((verb, at) => changeEvent({ record: `${list} ${verb}`, sequence: at + 1, list, verb })),
    );
    const owned = events.map((event) => ({
      ...event,
      data: { ...event.data, after: { id: event.subject, 담당자: { id: event.id, name: `담당 ${event.id}` } } },
    }));
    const more = Array.from({ length: 3 }, (_, at) => {
      const event = changeEvent({ record: `m${at}`, sequence: 1, list: 'memo', verb: 'created' });
      return { ...event, data: { ...event.data, after: { id: event.subject, ownerId: `u${at}` } } };
    });
    const formats = formatsFor({ language: 'en', now: '2026-03-02T04:10:00.000Z' });
    const { title, lines } = digestText(digestOf([...owned, ...more]), formats);
    // Of the persons in charge of memos only the ids are known.
    const [withoutNames] = digestText(digestOf(more), formats).lines;
    expect(title).toBe(
      '12 changes in acme: 4 memos created, 1 memo deleted, 1 memo update, 1 organization created, 1 organization deleted, 1 organization update, 3 others',
    );
    expect(lines[0]).toMatch(/^By person in charge: (담당 \S+ 1, ){9}3 others$/);
    expect(withoutNames).toBe('• m0 – memo created');
  });

  it('digest: in Korean', () => {
    const formats = formatsFor({ language: 'ko', timeZone: 'Asia/Seoul', now: '2026-03-02T04:10:00.000Z' });
    const { title, lines } = digestText(digestOf(someEvents()), formats);
    expect(title).toBe('acme 변경 14건: 고객 12명 생성, 고객 수정 1건, TODO 1건 완료');
    expect([...lines.slice(0, 2), ...lines.slice(-2)]).toEqual([
      '담당자별: 이가상 7건, 김가상 6건, 담당자 없음 1건',
      '• 가상 <고객> 0 – 고객 수정 · 담당자: 김가상 → 이가상 · 등급: B → A · +1',
      '• 가상 고객 7 – 고객 생성 · 담당 이가상',
      '… 외 4건',
    ]);
  });

  it('digest: is posted as one message, with the values escaped', async () => {
    const receiver = await startReceiver();
    const chat = message({ name: 'chat', url: receiver.url, allowHosts: ['127.0.0.1'] });
    await chat.handleDigest?.(digestOf(someEvents(), 'https://status.example.com/#/changes'), handlerContext());
    await chat.close?.();
    expect(receiver.received).toHaveLength(1);
    const { text } = JSON.parse(receiver.received[0]?.body ?? '') as { text: string };
    expect(text.split('\n').slice(0, 3)).toEqual([
      '*14 changes in acme: 12 people created, 1 person update, 1 todo completed*',
      'By person in charge: 이가상 7, 김가상 6, nobody 1',
      '• 가상 &lt;고객&gt; 0 – person updated · 담당자: 김가상 → 이가상 · 등급: B → A · +1',
    ]);
    expect(text.split('\n').at(-1)).toBe('<https://status.example.com/#/changes|Open the status page>');
  });

  it('digest: is written as data, and a message without one sends at most twenty a minute', () => {
    const url = 'https://hooks.example.com/key';
    const built = (more: object) => buildSubscription({ handler: 'message', name: 'chat', url, ...more });
    const quietHours = { from: '22:00', to: '08:00' };
    expect(built({ digest: { every: '1h', days: 'mon-fri', quietHours } })).toMatchObject({
      digest: { when: { everyMs: 3_600_000 }, days: [1, 2, 3, 4, 5], quiet: quietHours },
      mostPerMinute: undefined,
    });
    expect(built({ digest: { at: '09:00' } })).toMatchObject({
      digest: { when: { at: '09:00' }, days: [1, 2, 3, 4, 5, 6, 7] },
    });
    expect(
      [built({}), built({ mostPerMinute: 5 }), built({ mostPerMinute: false })].map((one) => one.mostPerMinute),
    ).toEqual([20, 5, undefined]);
  });
});
