/**
 * A read API in a process of its own that costs next to nothing: one list, pages serialised beforehand, cursors that are
 * page numbers. `POST /change?share=0.01` alters that share of the records, spread evenly over the list.
 */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

const PAGE = 50;
const count = Number(process.argv[2] ?? 10_000);
let generation = 0;

const records = Array.from({ length: count }, (_, index) => person(index));
const pages = (): Buffer[] =>
  Array.from({ length: Math.ceil(count / PAGE) }, (_, page) => {
    const nextCursor = (page + 1) * PAGE < count ? String(page + 1) : null;
    const peopleList = records.slice(page * PAGE, (page + 1) * PAGE);
    return Buffer.from(JSON.stringify({ success: true, data: { peopleList, nextCursor } }));
  });
let served = pages();

/** About 1.8 kB, in Korean, as the records seen in the wild. */
function person(index: number): Record<string, unknown> {
  const id = `0198f0aa-1c00-7a10-8f01-${String(index).padStart(12, '0')}`;
  const custom = Object.fromEntries(
    Array.from({ length: 24 }, (_, n) => [`사용자 정의 필드 ${n}`, `값 ${index} ${n}`]),
  );
  return {
    id,
    이름: `가상인 ${index}`,
    이메일: `p${index}@example.invalid`,
    '프로필 사진': null,
    '딜 개수': index % 7,
    담당자: { id: '5b0e0c52-0000-4000-8000-000000000001', name: '담당A' },
    팀: [{ id: '5b0e0c52-0000-4000-8000-0000000000f1', name: '1팀' }],
    '생성 날짜': '2026-01-05T01:20:00.000Z',
    '수정 날짜': '2026-02-20T08:00:00.000Z',
    ...custom,
  };
}

function change(share: number): void {
  generation += 1;
  const every = Math.round(1 / share);
  records.forEach((record, index) => {
    if (index % every === 0) record['이름'] = `가상인 ${index} (${generation})`;
  });
  served = pages();
}

const server = createServer((request, response) => {
  const { pathname, searchParams } = new URL(request.url ?? '/', 'http://localhost');
  if (pathname === '/change') {
    change(Number(searchParams.get('share')));
    return void response.end();
  }
  response.setHeader('content-type', 'application/json');
  response.end(served[Number(searchParams.get('cursor') ?? 0)]);
});
server.listen(0, '127.0.0.1', () => {
  process.stdout.write(`http://127.0.0.1:${(server.address() as AddressInfo).port}\n`);
});
