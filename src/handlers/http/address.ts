/**
 * Which addresses a webhook may reach. Pure: names are resolved elsewhere. Everything is refused that is not plainly an
 * address of the public internet: a webhook sent inwards lets whoever writes a URL read or steer what stands behind the
 * firewall, and a public receiver refused by mistake is one line of configuration (`allowHosts`).
 */
import ipaddr from 'ipaddr.js';

type Address = ipaddr.IPv4 | ipaddr.IPv6;

/** What `allowHosts` says, read. */
export interface Allowances {
  names: ReadonlySet<string>;
  ranges: readonly [Address, number][];
}

/** Machines on rented computers learn their credentials here. Not all of these are private by their range. */
const METADATA: ReadonlySet<string> = new Set(
  [
    '169.254.169.254',
    '169.254.170.2',
    '100.100.100.200',
    '168.63.129.16',
    '192.0.0.192',
    'fd00:ec2::254',
    'fd20:ce::254',
  ].map((text) => ipaddr.parse(text).toString()),
);

const KIND_OF_RANGE: Readonly<Record<string, string>> = {
  private: 'a private address',
  loopback: 'a loopback address',
  linkLocal: 'a link-local address',
  uniqueLocal: 'a unique-local address',
  deprecatedSiteLocal: 'a site-local address',
  carrierGradeNat: 'a shared address (carrier-grade NAT)',
  multicast: 'a multicast address',
  broadcast: 'the broadcast address',
  unspecified: 'an unspecified address',
  ipv4Mapped: 'an IPv4 address mapped into IPv6',
  rfc6145: 'an IPv4 address translated into IPv6',
  rfc6052: 'an IPv4 address translated into IPv6 (NAT64)',
  '6to4': 'an IPv4 address tunnelled in IPv6 (6to4)',
  teredo: 'an IPv4 address tunnelled in IPv6 (Teredo)',
};

// Only this part of IPv6 is handed out to the public internet; ::/96 holds IPv4 addresses in an abandoned form.
const GLOBAL_UNICAST = ipaddr.parseCIDR('2000::/3');

/** Reads `allowHosts`. Entries that `isAllowHost` refuses are left out. */
export function readAllowHosts(entries: readonly string[]): Allowances {
  const parsed = entries.map(readEntry);
  return {
    names: new Set(parsed.filter((entry) => typeof entry === 'string')),
    ranges: parsed.filter((entry) => typeof entry === 'object'),
  };
}

/** A host name, an address or a CIDR range: no scheme, no port, no path. */
export function isAllowHost(entry: string): boolean {
  return readEntry(entry) !== undefined;
}

/** Why an address must not be reached, as words for a message; null when it may be. */
export function refusalOf(text: string, allowances: Allowances): string | null {
  if (!isPlainAddress(text)) return 'not an address';
  if (isNamed(text, allowances)) return null;
  const address = ipaddr.parse(text);
  if (isMetadata(address)) return 'the metadata address of a cloud machine';
  const range: string = address.range();
  if (range !== 'unicast') return KIND_OF_RANGE[range] ?? 'a reserved address';
  if (address.kind() === 'ipv6' && !isWithin(address, GLOBAL_UNICAST)) return 'a reserved address';
  return text.includes('%') ? 'an address within one network (it has a zone)' : null;
}

/**
 * Does a name lead to credentials? Then it is no help that the name is allowed: whoever answers for the name would read
 * them. Only who allows the address itself means it.
 */
export function isMetadataAddress(text: string): boolean {
  return isPlainAddress(text) && isMetadata(ipaddr.parse(text));
}

/** Does `allowHosts` name this host or address? A range that happens to hold a metadata address does not name that. */
export function isNamed(host: string, { names, ranges }: Allowances): boolean {
  if (names.has(host.replace(/\.$/, '').toLowerCase())) return true;
  if (!isPlainAddress(host)) return false;
  const address = ipaddr.parse(host);
  const wanted = isMetadata(address) ? ranges.filter(isSingle) : ranges;
  return wanted.some((range) => isWithin(address, range));
}

function isMetadata(address: Address): boolean {
  return METADATA.has(unmapped(address).toString());
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
  // Letters beyond ASCII become what DNS knows them by; a name must not be something else that a URL can hold.
  if (/[\s/?#@:\\*]/.test(text) || !URL.canParse(`https://${text}`)) return undefined;
  const { hostname } = new URL(`https://${text}`);
  return isPlainAddress(hostname) ? undefined : hostname.replace(/\.$/, '');
}

function isPlainAddress(text: string): boolean {
  return ipaddr.IPv4.isValidFourPartDecimal(text) || ipaddr.IPv6.isValid(text);
}

/** Allowing an IPv4 address allows it in its mapped spelling too: it is the same machine. */
function isWithin(address: Address, range: [Address, number]): boolean {
  return [address, unmapped(address)].some((form) => form.kind() === range[0].kind() && form.match(range));
}

function unmapped(address: Address): Address {
  return address instanceof ipaddr.IPv6 && address.isIPv4MappedAddress() ? address.toIPv4Address() : address;
}
