/** Who sends a request, and what they may do: by a bearer token, a session of the login form, or a trusted proxy. */
import type { IncomingHttpHeaders } from 'node:http';
import ipaddr from 'ipaddr.js';
import { isSameToken } from '../../../kit/same-token.js';
import { isOwnHost } from './browser-safety.js';
import { digestOfToken, type Invited } from '../../invites.js';
import { readSession, SESSION_COOKIE, type Role, type Tokens } from './session.js';

/** `consume`: the consumer that is named in the path, and operators, each with a token: a link must not take events out of the log. */
export type Access = 'public' | Role | 'consume';

export interface Caller {
  /** `consume`: by the token of one consumer, which opens nothing else. */
  role: Role | 'consume';
  /** As the proxy or their invitation names them, and the name of a consumer; null for the token of a role. */
  name: string | null;
  how: 'token' | 'session' | 'proxy';
  /** They see this workspace and nothing else: of an invitation. @defaultValue all */
  workspace?: string | undefined;
}

/** Who shares the limits of one caller: a person, or everyone who comes with the same role from one address. */
export function nameOf({
  caller,
  socket,
}: {
  caller: Caller | null;
  socket: { remoteAddress?: string | undefined };
}): string {
  return `${caller?.role ?? ''} ${caller?.name ?? socket.remoteAddress ?? ''}`;
}

/** As the audit names them. */
export function whoIs({ caller, socket }: Parameters<typeof nameOf>[0]): { by: string; how: string; address: string } {
  return { by: caller?.name ?? caller?.role ?? '', how: caller?.how ?? '', address: socket.remoteAddress ?? '' };
}

export interface AccessOptions {
  tokens: Tokens;
  /** Those whose time is not over. @defaultValue nobody */
  invited?: () => readonly Invited[];
  /** The name of the consumer that has this token. @defaultValue there are none */
  consumerOf?: ((token: string) => string | null) | undefined;
  /** The token was made for this machine, and no proxy may stand in between. @defaultValue false */
  localOnly?: boolean;
  trustedProxy?:
    | {
        from: readonly string[];
        /** Besides the names of this machine for itself, what `host` may name. In small letters, without a port. */
        hosts: readonly string[];
        userHeader: string;
        operators: readonly string[];
      }
    | undefined;
}

export interface AccessRequest {
  headers: IncomingHttpHeaders;
  /** From the connection, never from a header. */
  remoteAddress: string | undefined;
  nowMs: number;
}

export function callerOf(request: AccessRequest, options: AccessOptions): Caller | null {
  const bearer = bearerOf(request.headers.authorization);
  if (bearer !== null) return callerOfToken(bearer, options) ?? consumerWith(bearer, options);
  return sessionsIn(request, options)[0]?.caller ?? callerOfProxy(request, options);
}

export function callerOfToken(given: string, { tokens, invited = () => [] }: AccessOptions): Caller | null {
  const how = 'token';
  if (tokens.operate !== undefined && isSameToken(given, tokens.operate)) return { role: 'operate', name: null, how };
  if (tokens.read !== undefined && isSameToken(given, tokens.read)) return { role: 'read', name: null, how };
  const digest = digestOfToken(given);
  const person = invited().find((one) => isSameToken(digest, one.digest));
  return person === undefined ? null : { role: person.role, name: person.name, how, ...scopeOf(person) };
}

const scopeOf = ({ workspace }: { workspace?: string | undefined }) => (workspace === undefined ? {} : { workspace });

/** It cannot sign in. */
function consumerWith(given: string, { consumerOf = () => null }: AccessOptions): Caller | null {
  const name = consumerOf(given);
  return name === null ? null : { role: 'consume', name, how: 'token' };
}

/** @param route its path's params; `ofWorkspace`: it answers a caller of one workspace with what is of that workspace only */
export function mayUse(
  access: Access,
  caller: Caller | null,
  { params, ofWorkspace = false }: { params?: unknown; ofWorkspace?: boolean } = {},
): boolean {
  if (access === 'public') return true;
  if (caller === null || (caller.workspace !== undefined && !ofWorkspace)) return false;
  const { role, name, how } = caller;
  if (access === 'consume') {
    const { consumer } = Object(params) as { consumer?: unknown };
    return how === 'token' && (role === 'operate' || (role === 'consume' && name === consumer));
  }
  return role === 'operate' || (access === 'read' && role === 'read');
}

function callerOfProxy({ headers, remoteAddress }: AccessRequest, access: AccessOptions): Caller | null {
  const { trustedProxy } = access;
  if (trustedProxy === undefined || remoteAddress === undefined) return null;
  // A browser on the proxy's machine sends from its address too, and a website can set the header on a name of its own.
  if (!isOwnHost(headers.host, trustedProxy.hosts)) return null;
  const given = headers[trustedProxy.userHeader];
  const name = typeof given === 'string' ? given.trim() : '';
  if (name === '' || !isOfProxy(remoteAddress, access)) return null;
  return { role: trustedProxy.operators.includes(name) ? 'operate' : 'read', name, how: 'proxy' };
}

export function isOfProxy(address: string, { trustedProxy }: AccessOptions): boolean {
  return trustedProxy?.from.some((range) => isWithin(address, range)) ?? false;
}

/** Whoever has one address of IPv6 has the 2^64 addresses beside it. */
export function networkOf(address: string): string {
  const parsed = ipaddr.isValid(address) ? ipaddr.process(address) : null;
  if (parsed === null) return address;
  return parsed instanceof ipaddr.IPv6 ? parsed.parts.slice(0, 4).join(':') : parsed.toString();
}

function isWithin(address: string, range: string): boolean {
  if (!ipaddr.isValid(address)) return false;
  const one = ipaddr.process(address);
  const [network, bits] = ipaddr.isValidCIDR(range) ? ipaddr.parseCIDR(range) : wholeAddress(range);
  return one.kind() === network.kind() && one.match(network, bits);
}

function wholeAddress(text: string): [ipaddr.IPv4 | ipaddr.IPv6, number] {
  const address = ipaddr.process(text);
  return [address, address.kind() === 'ipv4' ? 32 : 128];
}

export function bearerOf(authorization: string | undefined): string | null {
  const [, token = null] = /^Bearer +(\S+)$/i.exec(authorization ?? '') ?? [];
  return token;
}

/** A browser sends those of every page on this host name, whatever its port. Ours is what one of our tokens has signed. */
export function sessionsIn(
  { headers: { cookie = '' }, nowMs }: Pick<AccessRequest, 'headers' | 'nowMs'>,
  access: AccessOptions,
): { name: string; caller: Caller }[] {
  return cookie.split(';').flatMap((part) => {
    const [name = '', value = ''] = part.trim().split('=', 2);
    if (!name.startsWith(SESSION_COOKIE)) return [];
    const who = readSession(value, (one) => signerOf(one, access)?.key, nowMs);
    const signer = who === null ? undefined : signerOf(who, access);
    return signer === undefined
      ? []
      : [{ name, caller: { role: signer.role, name: signer.name, how: 'session', ...scopeOf(signer) } }];
  });
}

/** How a session names who has signed in. No role begins so. */
export const sessionNameOf = ({ role, name }: Caller): string => (name === null ? role : personIn(name));
const personIn = (name: string): string => `~${Buffer.from(name).toString('base64url')}`;

/** Who a session is of, and the key that signs it. A digest alone would let whoever can read Redis sign as a person. */
export function signerOf(
  who: string,
  { tokens, invited = () => [] }: AccessOptions,
): (Pick<Caller, 'role' | 'name' | 'workspace'> & { key: string }) | undefined {
  if (who === 'read' || who === 'operate') {
    const { [who]: key } = tokens;
    return key === undefined ? undefined : { role: who, name: null, key };
  }
  const [person, own] = [invited().find(({ name }) => personIn(name) === who), tokens.operate ?? tokens.read];
  if (person === undefined || own === undefined) return undefined;
  return { role: person.role, name: person.name, key: `${person.digest} ${own}`, ...scopeOf(person) };
}
