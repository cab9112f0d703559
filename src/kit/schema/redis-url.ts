/** The forms of a Redis address. Faults never repeat the text, because it may hold a password. */

export interface RedisNode {
  host: string;
  port: number;
}

export interface RedisAddress {
  /** One server, a Redis Cluster, or the server that Sentinel names. */
  kind: 'server' | 'cluster' | 'sentinel';
  /** The server, some nodes of the cluster, or the sentinels. */
  nodes: readonly RedisNode[];
  /** `host:port` of each node, for messages. */
  place: string;
  /** Each node as a URL, with user and password, without a database. */
  urls: readonly string[];
  isEncrypted: boolean;
  username: string | undefined;
  password: string | undefined;
  database: number;
  /** Sentinel's name of the server; `''` without Sentinel. */
  master: string;
  sentinelPassword: string | undefined;
}

/** `redis+cluster://user:password@host:port,…`, `redis+sentinel://host:port,host:port/master/0`; `rediss`: TLS. */
const SEVERAL = /^(rediss?)\+(cluster|sentinel):\/\/((?:[^/]*@)?)([^/?#]*)(.*)$/s;
const PORTS = { server: 6379, cluster: 6379, sentinel: 26_379 };

/** A `%` that stands for itself: decoding would throw. */
export function isBadEscape({ username, password, hostname, pathname }: URL): boolean {
  try {
    for (const part of [username, password, hostname, pathname]) decodeURIComponent(part);
    return false;
  } catch {
    return true;
  }
}

/** A text that is no such URL: what is wrong with it. */
export function readRedisUrl(text: string): RedisAddress | string {
  const [, scheme = '', several, login = '', hosts = '', rest = ''] = SEVERAL.exec(text) ?? [];
  const kind = several === 'cluster' || several === 'sentinel' ? several : 'server';
  const texts = kind === 'server' ? [text] : hosts.split(',').map((host) => `${scheme}://${login}${host}${rest}`);
  if (!texts.every((one) => URL.canParse(one))) return 'this is not a URL';
  const urls = texts.map((one) => new URL(one));
  const [first = new URL(text)] = urls;
  const { protocol } = first;
  if (protocol !== 'redis:' && protocol !== 'rediss:') return `this begins with ${protocol}`;
  if (urls.some(({ hostname }) => hostname === '')) return 'this names no host';
  if (isBadEscape(first)) return 'this has a % that begins no escape; write % itself as %25';

  const path = first.pathname.slice(1).split('/');
  const master = kind === 'sentinel' ? decodeURIComponent(path.shift() ?? '') : '';
  if (kind === 'sentinel' && master === '') return 'this lacks the name of the master';
  const [database = '', ...more] = path;
  if (!/^\d*$/.test(database) || more.length > 0) return 'its database is not a number';
  if (kind === 'cluster' && Number(database) !== 0) return 'a Redis Cluster has database 0 only';

  const nodes = urls.map(({ hostname, port }) => {
    return { host: hostname.replace(/^\[(.*)\]$/, '$1'), port: port === '' ? PORTS[kind] : Number(port) };
  });
  const place = urls.map(({ hostname, port }) => `${hostname}:${port === '' ? PORTS[kind] : port}`).join(', ');
  const [username, password] = [first.username, first.password].map((one) =>
    one === '' ? undefined : decodeURIComponent(one),
  );
  const sentinelPassword = first.searchParams.get('sentinelPassword') ?? undefined;
  for (const url of urls) url.pathname = '';
  return {
    kind,
    nodes,
    place,
    urls: urls.map(({ href }) => href),
    isEncrypted: protocol === 'rediss:',
    username,
    password,
    database: Number(database),
    master,
    sentinelPassword,
  };
}
