/**
 * A read API in a process of its own that costs next to nothing: one list, pages serialised beforehand, cursors that are
 * page numbers. `POST /change?share=0.01` alters that share of the records, spread evenly over the list.
 */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { person } from './person.js';

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
