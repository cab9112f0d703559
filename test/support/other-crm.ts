/**
 * An independent server of the read API, written from its documentation without any sandbox code. Where the documentation
 * leaves a choice, it differs from the sandbox: offsets as cursors, seven records per page, a different end for each list.
 */
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { onTestFinished } from 'vitest';
import type { BuiltInList } from '../../src/crm/lists/lists.js';
import type { Reply } from './api-server.js';

type ListName = BuiltInList | 'deal';

export type OtherRecord = Record<string, unknown> & { id: string };

/** The cursor of the last page: absent, null, or one that leads to an empty page. */
type Ending = 'missing' | 'null' | 'leads to an empty page';

interface Served {
  path: string;
  /** The key of the array in `data`. The documentation names none for the history. */
  key: string;
  ending: Ending;
}

const PAGE_SIZE = 7;
const SERVED: Readonly<Record<ListName, Served>> = {
  people: { path: '/crm/v2/people', key: 'peopleList', ending: 'missing' },
  organization: { path: '/crm/v2/organization', key: 'organizationList', ending: 'null' },
  memo: { path: '/crm/v2/memo', key: 'memoList', ending: 'leads to an empty page' },
  todo: { path: '/crm/v2/todo', key: 'todoList', ending: 'null' },
  history: { path: '/crm/v2/deal/history', key: 'entries', ending: 'null' },
  activity: { path: '/crm/v2/people/activity', key: 'peopleActivityList', ending: 'missing' },
  deal: { path: '/crm/v2/deal', key: 'dealList', ending: 'leads to an empty page' },
};

export interface AskedPage {
  list: ListName;
  cursor: string | null;
  status: number;
}

export interface OtherCrm {
  readonly url: string;
  token: string;
  /** The served lists; a test changes them in place. */
  readonly lists: Record<ListName, OtherRecord[]>;
  readonly asked: AskedPage[];
  /** While it returns a reply, that is sent instead of the list. */
  fault: (list: ListName, cursor: string | null) => Reply | undefined;
}

export async function startOtherCrm(): Promise<OtherCrm> {
  const crm: Omit<OtherCrm, 'url'> = {
    token: 'tok-5f0c1e9bd2a7',
    lists: someRecords(),
    asked: [],
    fault: () => undefined,
  };
  const server = createServer((request, response) => {
    const { status = 200, headers = {}, body } = answer(request, crm);
    response.writeHead(status, { 'content-type': 'application/json;charset=utf-8', ...headers });
    response.end(typeof body === 'string' ? body : JSON.stringify(body));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => stop(server));
  return Object.assign(crm, { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/crm` });
}

function answer(request: IncomingMessage, crm: Omit<OtherCrm, 'url'>): Reply {
  const { pathname, searchParams } = new URL(request.url ?? '/', 'http://other.invalid');
  const list = (Object.keys(SERVED) as ListName[]).find((name) => SERVED[name].path === pathname);
  if (list === undefined) return { status: 404, headers: { 'content-type': 'text/html' }, body: '<h1>Not here</h1>' };
  if (request.headers.authorization !== `Bearer ${crm.token}`) return { status: 401, body: { success: false } };
  if (request.headers['content-type'] !== 'application/json') return { status: 400, body: '' };
  const cursor = searchParams.get('cursor');
  const reply = crm.fault(list, cursor) ?? { body: page(list, crm.lists[list], cursor) };
  crm.asked.push({ list, cursor, status: reply.status ?? 200 });
  return reply;
}

function page(list: ListName, records: readonly OtherRecord[], cursor: string | null): object {
  const { key, ending } = SERVED[list];
  const from = cursor === null ? 0 : offsetOf(cursor);
  const shown = records.slice(from, from + PAGE_SIZE);
  const end = from + shown.length >= records.length;
  const goesOn = !end || (ending === 'leads to an empty page' && shown.length > 0);
  const next = goesOn ? { nextCursor: cursorAt(from + PAGE_SIZE) } : ending === 'missing' ? {} : { nextCursor: null };
  return { success: true, requestId: `r-${from}`, data: { took: 3, ...next, [key]: shown, page: { size: PAGE_SIZE } } };
}

export function cursorAt(offset: number): string {
  return Buffer.from(JSON.stringify({ offset })).toString('base64');
}

function offsetOf(cursor: string): number {
  return (JSON.parse(Buffer.from(cursor, 'base64').toString()) as { offset: number }).offset;
}

function idOf(list: ListName, index: number): string {
  const number = list.length * 1_000 + index;
  if (index % 3 === 0) return `0198f0aa-1c00-7a10-8f01-${String(number).padStart(12, '0')}`;
  return index % 3 === 1 ? number.toString(16).padStart(24, '6') : String(number);
}

function someRecords(): Record<ListName, OtherRecord[]> {
  const at = '2026-03-01T09:00:00.000Z';
  const make = (list: ListName, size: number, fields: (index: number) => object): OtherRecord[] =>
    Array.from({ length: size }, (_, index) => ({ id: idOf(list, index), ...fields(index) }));
  const owner = { id: 'u-1', name: '담당A' };
  return {
    people: make('people', 17, (n) => ({
      이름: `사람 ${n}`,
      담당자: owner,
      '수정 날짜': at,
      '등급/[VIP]': 'A',
      x: { y: [n] },
    })),
    // A whole number of pages: the last page is full, and no empty page follows it.
    organization: make('organization', 14, (n) => ({ 이름: `회사 ${n}`, 팀: [owner], '수정 날짜': at, 직원수: n })),
    memo: make('memo', 9, (n) => ({ text: `메모 ${n}`, peopleId: null, updatedAt: at, createdAt: at })),
    todo: make('todo', 8, (n) => ({ 내용: `할 일 ${n}`, 완료: false, '완료 날짜': null, '수정 날짜': at })),
    history: make('history', 7, (n) => ({ type: 'editField', fieldName: '금액', fieldValue: n, createdAt: at })),
    activity: make('activity', 3, () => ({ type: 'email', date: at })),
    deal: make('deal', 9, (n) => ({ 금액: n, '수정 날짜': at })),
  };
}

async function stop(server: Server): Promise<void> {
  server.closeAllConnections();
  server.close();
  await once(server, 'close');
}
