/**
 * Which addresses a webhook may reach: only the public internet, or the author of a URL could control services behind
 * the firewall. Names are resolved at connect time and the socket gets the addresses that were checked: between two
 * lookups a name could change its answer (DNS rebinding). The connected address is checked before the first byte.
 */
import type { LookupAddress } from 'node:dns';
import { lookup as resolveByDns } from 'node:dns/promises';
import { isIP, type LookupFunction, type Socket } from 'node:net';
import ipaddr from 'ipaddr.js';
import { Agent, buildConnector } from 'undici';
import { ChangefeedError } from '../../../kit/errors.js';

type Address = ipaddr.IPv4 | ipaddr.IPv6;

export interface Allowances {
  names: ReadonlySet<string>;
  ranges: readonly [Address, number][];
}

/** Cloud machines read their credentials from addresses in these ranges. Not all of them are private. */
const METADATA = [
  '169.254.0.0/16',
  '100.100.100.200/32',
  '168.63.129.16/32',
  '192.0.0.192/32',
  'fd00:ec2::/32',
  'fd20:ce::254/128',
].map((text) => ipaddr.parseCIDR(text));

// Only this part of IPv6 is assigned to the public internet; ::/96 holds IPv4 addresses in a deprecated form.
const GLOBAL_UNICAST = ipaddr.parseCIDR('2000::/3');

/** Parses `allowHosts`. Entries that `isAllowHost` rejects are ignored. */
export function readAllowHosts(entries: readonly string[]): Allowances {
  const parsed = entries.map(readEntry);
  return {
    names: new Set(parsed.filter((entry) => typeof entry === 'string')),
    ranges: parsed.filter((entry) => typeof entry === 'object'),
  };
}

export function isAllowHost(entry: string): boolean {
  return readEntry(entry) !== undefined;
}

/** Why an address must not be reached, as part of a message; null if it is allowed. */
export function refusalOf(text: string, allowances: Allowances): string | null {
  if (!isPlainAddress(text)) return 'not an address';
  if (isNamed(text, allowances)) return null;
  const address = ipaddr.parse(text);
  if (isMetadata(address)) return 'an address where cloud machines keep credentials';
  const range: string = address.range();
  if (range !== 'unicast') return `in the range "${range}"`;
  if (address.kind() === 'ipv6' && !isWithin(address, GLOBAL_UNICAST)) return 'in the range "reserved"';
  return text.includes('%') ? 'an address within one network (it has a zone)' : null;
}

/** True if `allowHosts` names this host or address. A range does not name the metadata addresses within it. */
export function isNamed(host: string, { names, ranges }: Allowances): boolean {
  if (names.has(host.replace(/\.$/, '').toLowerCase())) return true;
  if (!isPlainAddress(host)) return false;
  const address = ipaddr.parse(host);
  const wanted = isMetadata(address) ? ranges.filter(isSingle) : ranges;
  return wanted.some((range) => isWithin(address, range));
}

function isMetadata(address: Address): boolean {
  return METADATA.some((range) => isWithin(address, range));
}

function isSingle([address, bits]: [Address, number]): boolean {
  return bits === 8 * address.toByteArray().length;
}

function readEntry(entry: string): string | [Address, number] | undefined {
  const text = entry.trim().replace(/^\[(.*)\]$/, '$1');
  if (ipaddr.isValidCIDR(text)) return ipaddr.parseCIDR(text);
  if (isPlainAddress(text)) {
    const address = ipaddr.parse(text);
    return [address, address.kind() === 'ipv4' ? 32 : 128];
  }
  // Non-ASCII letters are converted to their DNS form. Other parts of a URL are not allowed.
  if (/[\s/?#@:\\*]/.test(text) || !URL.canParse(`https://${text}`)) return undefined;
  const { hostname } = new URL(`https://${text}`);
  return isPlainAddress(hostname) ? undefined : hostname.replace(/\.$/, '');
}

function isPlainAddress(text: string): boolean {
  return ipaddr.IPv4.isValidFourPartDecimal(text) || ipaddr.IPv6.isValid(text);
}

/** An allowed IPv4 address is also allowed as a mapped IPv6 address: it is the same machine. */
function isWithin(address: Address, range: [Address, number]): boolean {
  return [address, unmapped(address)].some((form) => form.kind() === range[0].kind() && form.match(range));
}

function unmapped(address: Address): Address {
  return address instanceof ipaddr.IPv6 && address.isIPv4MappedAddress() ? address.toIPv4Address() : address;
}

export type Resolve = (hostname: string) => Promise<readonly LookupAddress[]>;

export const systemResolve: Resolve = (hostname) => resolveByDns(hostname, { all: true, verbatim: true });

export interface GuardOptions {
  allowances: Allowances;
  resolve: Resolve;
  /** The longest time for connecting, for the answer's head, and between two parts of its body; ms. */
  timeoutMs: number;
}

export function guardedAgent(options: GuardOptions): Agent {
  const { timeoutMs } = options;
  return new Agent({ headersTimeout: timeoutMs, bodyTimeout: timeoutMs, connect: guardedConnector(options) });
}

/** Connects as a request would, TLS included, and sends nothing; throws what a request would. */
export async function connectTo(url: URL, options: GuardOptions): Promise<void> {
  (await openSocket(url, options)).destroy();
}

type Target = Pick<URL, 'protocol' | 'hostname' | 'host' | 'port'>;

/** With the protocol `http:`, a plain connection for what is no HTTP. */
export async function openSocket({ protocol, hostname, host, port }: Target, options: GuardOptions): Promise<Socket> {
  const connect = guardedConnector(options);
  // As in a request: an IPv6 address stands without its brackets.
  const address = { protocol, host, port, hostname: hostname.replace(/^\[|\]$/g, '') };
  return await new Promise<Socket>((resolve, reject) => {
    connect(address, (error, connected) => (error === null ? resolve(connected) : reject(error)));
  });
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

function guardedLookup(allowances: Allowances, resolve: Resolve): LookupFunction {
  return (hostname, options, callback) => {
    allowedAddresses(hostname, allowances, resolve).then(
      (addresses) => {
        const [first] = addresses;
        if (options.all === true) callback(null, addresses);
        else callback(null, first?.address ?? '', first?.family ?? 0);
      },
      (error: unknown) => callback(error as NodeJS.ErrnoException, ''),
    );
  };
}

async function allowedAddresses(hostname: string, allowances: Allowances, resolve: Resolve): Promise<LookupAddress[]> {
  const answers = await resolve(hostname);
  const open = answers.filter(({ address }) => refusalAt(hostname, address, allowances) === null);
  if (open.length > 0) return open;
  const [first] = answers;
  const refusal = first && refusalAt(hostname, first.address, allowances);
  throw refusal ?? Object.assign(new Error(`${hostname} has no address`), { code: 'ENOTFOUND' });
}

function refusalAt(hostname: string, address: string, allowances: Allowances): ChangefeedError | null {
  const refusal = refusalOf(address, allowances);
  if (refusal === null) return null;
  // A metadata address must be allowed itself: the owner of an allowed name's DNS could read the credentials there.
  const isByName = isNamed(hostname, allowances) && !(isPlainAddress(address) && isMetadata(ipaddr.parse(address)));
  if (isByName) return null;
  const reached = hostname === address ? address : `${hostname} resolves to ${address}, which`;
  return new ChangefeedError('CF_ADDRESS_REFUSED', {
    message: `${reached} is ${refusal}: nothing was sent. If this address is intended, add the host or address to allowHosts.`,
    hostname,
    address,
  });
}
