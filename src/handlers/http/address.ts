/**
 * Which addresses a webhook may reach. Pure: names are resolved elsewhere. Only addresses of the public internet are allowed by
 * default: a webhook to an internal address would let the author of a URL read or control services behind the firewall. A
 * public receiver that is refused by mistake costs one line of configuration (`allowHosts`).
 */
import ipaddr from 'ipaddr.js';

type Address = ipaddr.IPv4 | ipaddr.IPv6;

/** `allowHosts`, parsed. */
export interface Allowances {
  names: ReadonlySet<string>;
  ranges: readonly [Address, number][];
}

/** Cloud machines read their credentials from these addresses. Not all of them are in a private range. */
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

/** A host name, an address or a CIDR range: no scheme, no port, no path. */
export function isAllowHost(entry: string): boolean {
  return readEntry(entry) !== undefined;
}

/** Why an address must not be reached, as part of a message; null if it is allowed. */
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
 * A name that resolves to a metadata address stays refused even if the name is allowed, because the owner of the name's DNS could
 * read the credentials there. It must be allowed by the address itself.
 */
export function isMetadataAddress(text: string): boolean {
  return isPlainAddress(text) && isMetadata(ipaddr.parse(text));
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
