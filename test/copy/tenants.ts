/**
 * Customers that come, change and leave while three processes run and are killed. The world judges each request by the tokens that are valid for
 * its address at that moment, and each delivery by whose event it is.
 */
import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import type { ChangeEvent } from '../../src/events/types.js';

/** A process takes over a change within this time; and what is under way then ends. */
export const TAKEN_OVER_MS = 2_000;
const UNDER_WAY_MS = 500;

interface Tenant {
  name: string;
  records: Map<string, { id: string; name: string; updatedAt: string }>;
  /** What may be sent now, and until when what was replaced may be. */
  tokens: Map<string, number>;
  /** What the receiver has: the highest sequence of each record. */
  copy: Map<string, ChangeEvent>;
  made: number;
}

export async function startWorld(names: readonly string[]) {
  const wrong: string[] = [];
  const tenants = new Map(names.map((name): [string, Tenant] => [name, emptyTenant(name)]));
  let changes = 0;
  const answer = async (request: IncomingMessage): Promise<[status: number, body: object]> => {
    const [, where, name = '', ...path] = (request.url ?? '').split(/[/?]/);
    const tenant = tenants.get(name);
    if (tenant === undefined) return [404, {}];
    if (where === 'hook') {
      const event = JSON.parse(await text(request)) as ChangeEvent;
      if (event.source !== `/workspaces/${name}`) wrong.push(`${name} got an event of ${event.source}`);
      const before = tenant.copy.get(event.subject);
      if (before === undefined || before.data.sequence < event.data.sequence) tenant.copy.set(event.subject, event);
      return [200, {}];
    }
    const token = (request.headers.authorization ?? '').replace('Bearer ', '');
    const untilMs = tenant.tokens.get(token);
    if (untilMs === undefined || untilMs < performance.now()) wrong.push(`${name} was asked with ${token} too late`);
    if (untilMs !== Infinity) return [401, { success: false }];
    const rows = path.includes('people') ? [...tenant.records.values()] : [];
    return [200, { success: true, data: { peopleList: rows, nextCursor: null } }];
  };
  const server = createServer((request, response) => {
    void answer(request).then(([status, body]) => response.writeHead(status).end(JSON.stringify(body)));
  });
  const url = await listening(server);
  const of = (name: string): Tenant => tenants.get(name) ?? emptyTenant(name);
  return {
    ...{ wrong, of },
    urlOf: (name: string): string => `${url}/api/${name}`,
    hooks: `${url}/hook`,
    /** From now on only this one is right. @param token null: none is */
    allow(name: string, token: string | null): void {
      const { tokens } = of(name);
      const untilMs = performance.now() + TAKEN_OVER_MS + UNDER_WAY_MS;
      for (const [one, until] of tokens) tokens.set(one, Math.min(until, untilMs));
      if (token !== null) tokens.set(token, Infinity);
    },
    change(name: string, chance: number): void {
      const { records } = of(name);
      const ids = [...records.keys()];
      const updatedAt = new Date(Date.now()).toISOString();
      const id = ids[Math.floor(chance * 7 * ids.length) % Math.max(1, ids.length)];
      if (chance < 0.4 || id === undefined) changes += 1;
      if (chance > 0.85 && id !== undefined && ids.length > 3) return void records.delete(id);
      const changed = chance < 0.4 || id === undefined ? `${name}-${changes}` : id;
      records.set(changed, { id: changed, name: `v${(changes += 1)}`, updatedAt });
    },
    /** What is wrong in the copy of a customer. */
    differences(name: string): string[] {
      const { records, copy } = of(name);
      const known = [...copy].filter(([, { data }]) => data.after !== null);
      const missing = [...records.values()].filter(({ id, name: now }) => copy.get(id)?.data.after?.['name'] !== now);
      const extra = known.filter(([id]) => !records.has(id));
      return [...missing.map(({ id }) => `${id} is not as it is`), ...extra.map(([id]) => `${id} is not gone`)];
    },
    close: (): void => {
      server.closeAllConnections();
      server.close();
    },
  };
}

function emptyTenant(name: string): Tenant {
  return { name, records: new Map(), tokens: new Map(), copy: new Map(), made: 0 };
}

async function listening(server: Server): Promise<string> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}
