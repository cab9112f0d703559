/** Parses a database URL, with or without a host (a socket has none). Pure. */

const NO_HOST = 'socket.invalid';

/** Undefined if it is not a PostgreSQL URL. */
export function readUrl(text: string): URL | undefined {
  if (!/^postgres(ql)?:\/\//.test(text)) return undefined;
  // `postgres://user@/database?host=/run/postgresql`: only PostgreSQL accepts a user without a host.
  const whole = text.replace(/^([a-z]+:\/\/[^/?#]*)@(?=[/?#])/, `$1@${NO_HOST}`);
  return URL.canParse(whole) ? new URL(whole) : undefined;
}

/** Host, port and database, for messages. Never user, password or query. */
export function placeOf(text: string): string {
  const url = readUrl(text);
  const named = url?.hostname === NO_HOST ? '' : decodeURIComponent(url?.hostname ?? '');
  const host = url?.searchParams.get('host') ?? named;
  return writePlace({ host, port: url?.port, database: url?.pathname.slice(1) });
}

export interface PlaceParts {
  host?: string | undefined;
  port?: string | number | undefined;
  database?: string | undefined;
}

export function writePlace({ host = '', port = '', database = '' }: PlaceParts): string {
  return `${host === '' ? 'PostgreSQL' : host}${port === '' ? '' : `:${port}`}${database === '' ? '' : `/${database}`}`;
}
