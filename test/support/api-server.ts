/** Small servers with scripted answers: complete ones over node:http, broken ones over raw sockets. */
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { createServer as createTcpServer, type AddressInfo, type Server, type Socket } from 'node:net';

export interface Running extends AsyncDisposable {
  readonly baseUrl: string;
  readonly host: string;
}

export interface ApiServer extends Running {
  readonly requests: readonly IncomingMessage[];
}

export interface Reply {
  status?: number;
  headers?: Record<string, string>;
  /** A string or Buffer is sent as it is, anything else as JSON. */
  body?: unknown;
}

export async function startApiServer(reply: (request: IncomingMessage, n: number) => Reply): Promise<ApiServer> {
  const requests: IncomingMessage[] = [];
  const server = createServer((request, response) => {
    requests.push(request);
    send(response, reply(request, requests.length - 1));
  });
  const running = await listen(server);
  return { ...running, requests, [Symbol.asyncDispose]: () => (server.closeAllConnections(), stop(server)) };
}

/** Calls `answer` with each connection once a request has arrived, with its number, and with the head of the request. */
export async function startRawServer(answer: (socket: Socket, n: number, head: string) => void): Promise<Running> {
  const sockets = new Set<Socket>();
  let connections = 0;
  const server = createTcpServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined);
    socket.once('data', (head) => answer(socket, connections++, String(head)));
  });
  const running = await listen(server);
  return {
    ...running,
    [Symbol.asyncDispose]: async () => {
      for (const socket of sockets) socket.destroy();
      await stop(server);
    },
  };
}

function send(response: ServerResponse, { status = 200, headers = {}, body = '' }: Reply): void {
  response.writeHead(status, { 'content-type': 'application/json', ...headers });
  response.end(typeof body === 'string' || Buffer.isBuffer(body) ? body : JSON.stringify(body));
}

async function listen(server: Server): Promise<{ baseUrl: string; host: string }> {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  return { baseUrl: `http://${host}`, host };
}

async function stop(server: Server): Promise<void> {
  server.close();
  await once(server, 'close');
}
