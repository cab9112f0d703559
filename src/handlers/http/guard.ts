/**
 * Connections that reach only allowed addresses. Names are resolved here, at connect time, and the socket gets exactly the
 * addresses that were checked: resolving once for the check and again for the connection would let a name change its answer in
 * between (DNS rebinding). Literal addresses are not resolved and are checked first. The address of the connected socket is
 * checked once more before the first byte of a request.
 */
import type { LookupAddress } from 'node:dns';
import { lookup as resolveByDns } from 'node:dns/promises';
import { isIP, type LookupFunction, type Socket } from 'node:net';
import { Agent, buildConnector } from 'undici';
import { ChangefeedError } from '../../errors.js';
import { isMetadataAddress, isNamed, refusalOf, type Allowances } from './address.js';

/** All addresses of a name. */
export type Resolve = (hostname: string) => Promise<readonly LookupAddress[]>;

export const systemResolve: Resolve = (hostname) => resolveByDns(hostname, { all: true, verbatim: true });

export interface GuardOptions {
  allowances: Allowances;
  resolve: Resolve;
  /** For connecting, for the answer's head, and between two parts of its body; ms. */
  timeoutMs: number;
}

export function guardedAgent(options: GuardOptions): Agent {
  const { timeoutMs } = options;
  return new Agent({ headersTimeout: timeoutMs, bodyTimeout: timeoutMs, connect: guardedConnector(options) });
}

/**
 * Connects as a request would, TLS included, and sends nothing.
 * @throws what a request to the URL would throw for its connection
 */
export async function connectTo({ protocol, hostname, host, port }: URL, options: GuardOptions): Promise<void> {
  const connect = guardedConnector(options);
  // As in a request: an IPv6 address stands without its brackets.
  const address = { protocol, host, port, hostname: hostname.replace(/^\[|\]$/g, '') };
  const socket = await new Promise<Socket>((resolve, reject) => {
    connect(address, (error, connected) => (error === null ? resolve(connected) : reject(error)));
  });
  socket.destroy();
}

function guardedConnector({ allowances, resolve, timeoutMs }: GuardOptions): buildConnector.connector {
  const connect = buildConnector({ lookup: guardedLookup(allowances, resolve), timeout: timeoutMs });
  return (options, callback) => {
    const refusal = isIP(options.hostname) === 0 ? null : refusalAt(options.hostname, options.hostname, allowances);
    if (refusal !== null) {
      callback(refusal, null);
      return;
    }
    connect(options, (error, socket) => {
      if (error !== null) {
        callback(error, null);
        return;
      }
      const late = refusalAt(options.hostname, socket.remoteAddress ?? '', allowances);
      if (late === null) {
        callback(null, socket);
        return;
      }
      socket.destroy();
      callback(late, null);
    });
  };
}

/** A `lookup` for sockets that returns only allowed addresses. */
function guardedLookup(allowances: Allowances, resolve: Resolve): LookupFunction {
  return (hostname, options, callback) => {
    const family = options.family === 4 || options.family === 6 ? options.family : 0;
    allowedAddresses(hostname, { allowances, resolve, family }).then(
      (addresses) => {
        const [first] = addresses;
        if (options.all === true) callback(null, addresses);
        else callback(null, first?.address ?? '', first?.family ?? 0);
      },
      (error: unknown) => callback(error as NodeJS.ErrnoException, ''),
    );
  };
}

async function allowedAddresses(
  hostname: string,
  { allowances, resolve, family }: { allowances: Allowances; resolve: Resolve; family: 0 | 4 | 6 },
): Promise<LookupAddress[]> {
  const answers = (await resolve(hostname)).filter((answer) => family === 0 || answer.family === family);
  const open = answers.filter(({ address }) => refusalAt(hostname, address, allowances) === null);
  if (open.length > 0) return open;
  const refusal = answers
    .map(({ address }) => refusalAt(hostname, address, allowances))
    .find((error) => error !== null);
  throw refusal ?? Object.assign(new Error(`${hostname} has no address`), { code: 'ENOTFOUND' });
}

function refusalAt(hostname: string, address: string, allowances: Allowances): ChangefeedError | null {
  const refusal = refusalOf(address, allowances);
  if (refusal === null || (isNamed(hostname, allowances) && !isMetadataAddress(address))) return null;
  const reached = hostname === address ? address : `${hostname} resolves to ${address}, which`;
  return new ChangefeedError('CF_ADDRESS_REFUSED', {
    message: `${reached} is ${refusal}: nothing was sent. If this address is intended, add the host or address to allowHosts.`,
    hostname,
    address,
  });
}
