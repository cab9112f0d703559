/** Receivers for the conformance checks of kinds of handlers. Each is the real thing, or a server of its protocol, behind a gate. */
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Arrival, KindReceiver, ReceiverState } from '../../src/testing/kind.js';
import { openGate } from './gate.js';

type Options = Readonly<Record<string, unknown>>;

export function gateState(state: ReceiverState): 'open' | 'silent' | 'away' {
  return state === 'silent' ? state : state === 'down' ? 'away' : 'open';
}

export interface HttpAnswer {
  status: number;
  headers?: Readonly<Record<string, string>>;
  body?: string;
}

interface HttpReceiver {
  optionsAt: (port: number) => Options;
  secrets: readonly string[];
  /** What it accepts, answered with 200; undefined: another call, such as one for a token. */
  read: (request: IncomingMessage, body: string) => Arrival | readonly Arrival[] | undefined;
  /** @defaultValue 413 for good, 429 with `Retry-After: 7` */
  answers?: Partial<Record<'accepting' | 'refusing' | 'limiting', HttpAnswer>>;
  /** Answers of calls that are no deliveries. */
  other?: (request: IncomingMessage, body: string, arrived: readonly Arrival[]) => HttpAnswer;
}

const ANSWERS: Record<'accepting' | 'refusing' | 'limiting', HttpAnswer> = {
  accepting: { status: 200, body: '{}' },
  refusing: { status: 413 },
  limiting: { status: 429, headers: { 'retry-after': '7' } },
};

export async function httpReceiver({ optionsAt, secrets, read, answers, other }: HttpReceiver): Promise<KindReceiver> {
  const arrived: Arrival[] = [];
  let state: ReceiverState = 'accepting';
  const answer = (request: IncomingMessage, body: string): HttpAnswer => {
    const found = read(request, body);
    if (found === undefined) return other?.(request, body, arrived) ?? { status: 404 };
    if (state === 'accepting') arrived.push(...[found].flat());
    return { ...ANSWERS, ...answers }[state as keyof typeof ANSWERS];
  };
  const server = createServer((request, response) => {
    void bodyOf(request).then((body) => reply(response, answer(request, body)));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const gate = await openGate(server.address() as AddressInfo);
  return {
    options: optionsAt(gate.port),
    secrets,
    arrived: () => arrived,
    become(next) {
      state = next;
      gate.become(gateState(next));
    },
    connections: () => gate.connections(),
    async close() {
      await gate.close();
      server.closeAllConnections();
      server.close();
    },
  };
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  const parts: Buffer[] = [];
  for await (const part of request as AsyncIterable<Buffer>) parts.push(part);
  return Buffer.concat(parts).toString('utf8');
}

function reply(response: ServerResponse, { status, headers, body }: HttpAnswer): void {
  response.writeHead(status, headers).end(body);
}
