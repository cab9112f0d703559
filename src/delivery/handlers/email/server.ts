/** One SMTP server: connections through the guard of addresses, and what its answers mean for a delivery. Does not know events. */
import type { createTransport } from 'nodemailer';
import { ChangefeedError, EXTRA_CA, reasonOfConnection } from '../../../kit/errors.js';
import { formatDuration } from '../../../kit/duration.js';
import { importOptionalPackage } from '../../../kit/optional-package.js';
import { isLoopback } from '../../../kit/schema/addresses.js';
import { failureError, type DeliveryFailure } from '../failed-delivery.js';
import type { Reached } from '../handler.js';
import { isNamed, openSocket, systemResolve, type Allowances, type Resolve } from '../http/guard.js';
import { excerptOf } from '../http/post.js';

/** The address of a server, read. */
export interface Server {
  host: string;
  port: number;
  /** TLS from the first byte. */
  isSecure: boolean;
  login: { user: string; pass: string } | null;
}

const PORTS = { 'smtp:': 587, 'smtps:': 465 } as const;

/** Null where it is no address of a server. Its texts may hold a password, and are repeated nowhere. */
export function readServer(text: string): Server | null {
  if (!/^smtps?:\/\//.test(text) || !URL.canParse(text)) return null;
  const { protocol, hostname, port, username, password, pathname, search, hash } = new URL(text);
  if (hostname === '' || (username === '') !== (password === '') || !['', '/'].includes(pathname) || search || hash)
    return null;
  try {
    const login = username === '' ? null : { user: decodeURIComponent(username), pass: decodeURIComponent(password) };
    return {
      host: hostname.replace(/^\[(.*)\]$/, '$1'),
      port: port === '' ? PORTS[protocol as keyof typeof PORTS] : Number(port),
      isSecure: protocol === 'smtps:',
      login,
    };
  } catch {
    return null;
  }
}

export interface Mail {
  from: { name: string; address: string };
  /** One: each recipient is answered for by itself. */
  recipient: string;
  /** As the mail shows them. */
  to: readonly string[];
  subject: string;
  text: string;
  html: string;
  messageId: string;
  /** The id of the thread. */
  references?: string | undefined;
}

export interface MailServerOptions {
  /** `Mail "team"` */
  who: string;
  subscription: string;
  server: Server;
  allowances: Allowances;
  /** In ms. */
  timeout: number;
}

export interface MailWorld {
  resolve: Resolve;
}

type Transport = ReturnType<typeof createTransport>;

/** What nodemailer says of a failure. */
interface SmtpError extends Error {
  code?: string;
  /** Of the system, such as `ECONNREFUSED`. */
  originalCode?: string;
  response?: string;
  responseCode?: number;
  permanent?: boolean;
  command?: string;
}

/** A server that says nothing for so long is away, however long an attempt may take; ms. */
const SILENT_MS = 30_000;

export function openMailServer(given: MailServerOptions, { resolve = systemResolve }: Partial<MailWorld> = {}) {
  const options = { ...given, timeout: Math.min(given.timeout, SILENT_MS) };
  const { server } = options;
  const place = `${server.host}:${server.port}`;
  let opening: Promise<Transport> | undefined;
  const opened = (): Promise<Transport> => (opening ??= openTransport(options, resolve));
  return {
    place,
    /** @throws PermanentError where this mail will not be accepted; otherwise what may succeed later */
    async send(mail: Mail, signal: AbortSignal): Promise<{ status: number }> {
      const transport = await opened();
      try {
        const { from, recipient, to, subject, text, html, messageId, references } = mail;
        const { response } = (await transport.sendMail({
          ...{ from, to: [...to], subject, text, html, messageId, signal },
          ...(references !== undefined && { references, inReplyTo: references }),
          envelope: { from: from.address, to: [recipient] },
          // Who is away answers no machine.
          headers: { 'Auto-Submitted': 'auto-generated' },
          xMailer: false,
          disableFileAccess: true,
          disableUrlAccess: true,
        })) as { response: string };
        return { status: Number(/^\d{3}/.exec(response)?.[0] ?? 250) };
      } catch (error) {
        throw failureOf(error as SmtpError, options);
      }
    },
    /** Connects and logs in, and sends nothing. */
    async reach(): Promise<Reached> {
      const transport = await opened();
      try {
        await transport.verify();
        return { place, problem: null };
      } catch (error) {
        return { place, problem: `${options.who}: ${messageOfFailure(error as SmtpError, options)}` };
      }
    },
    async close(): Promise<void> {
      (await opening)?.close();
    },
  };
}

async function openTransport(options: MailServerOptions, resolve: Resolve): Promise<Transport> {
  const { server, allowances, timeout: timeoutMs } = options;
  const { host, port, isSecure, login } = server;
  // Loaded only if a subscription sends mail.
  const { createTransport: create } = await importOptionalPackage<{ createTransport: typeof createTransport }>(
    'nodemailer',
  );
  const target = { protocol: 'http:', hostname: host, host: `${host}:${port}`, port: String(port) };
  return create({
    ...{ host, port, secure: isSecure },
    ...(login && { auth: login }),
    // What stays on this machine needs no TLS, and its certificate has no authority. A password goes nowhere else in clear.
    ...(isLoopback(host) ? { ignoreTLS: true } : { requireTLS: login !== null && !isNamed(host, allowances) }),
    ...{ greetingTimeout: timeoutMs, socketTimeout: timeoutMs, connectionTimeout: timeoutMs },
    // The name is resolved here, and the socket connects to what was checked.
    getSocket(_, callback) {
      openSocket(target, { allowances, resolve, timeoutMs }).then(
        (connection) => callback(null, { connection }),
        (error: unknown) => callback(error as Error, false),
      );
    },
  });
}

function failureOf(error: SmtpError, options: MailServerOptions): Error {
  const { server } = options;
  // Only what is said of the mail itself is the fault of the mail: a wrong password, or no TLS, would be that of each one.
  const isOfMail = ['EENVELOPE', 'EMESSAGE'].includes(error.code ?? '') && error.responseCode !== NO_LOGIN;
  const isOver = isOfMail && (error.permanent === true || TOO_LARGE.test(error.message));
  const failure: DeliveryFailure = {
    then: isOver ? 'dead' : 'retry',
    message: messageOfFailure(error, options),
    ...(error instanceof ChangefeedError && { code: error.code }),
    said: excerptOf(error.response ?? '', hiddenOf(server)),
    status: error.responseCode,
    facts: { place: `${server.host}:${server.port}` },
  };
  return failureError(failure, { ...options, now: 0 });
}

/** To the sender, by a server that wants a login. */
const NO_LOGIN = 530;
/** nodemailer compares with the size that the server takes. */
const TOO_LARGE = /^Message size larger than allowed/;

function messageOfFailure(error: SmtpError, { server, timeout }: MailServerOptions): string {
  const start = `${server.host}:${server.port}`;
  if (error instanceof ChangefeedError) return `${start}: ${error.message}`;
  const { code = '', originalCode, responseCode: status, command = '' } = error;
  if (code === 'EAUTH' || code === 'ENOAUTH')
    return `${start} does not accept the user and the password of server${status === undefined ? '' : ` (${status})`}.`;
  if (status !== undefined && code !== 'ETLS') return `${start} answered ${status} to ${stepOf(command)}.`;
  if (code === 'ETIMEDOUT' || /TIMEOUT/.test(originalCode ?? code))
    return `${start} did not answer within ${formatDuration(timeout)}.`;
  if (code === 'EABORT') return `${start} was cancelled before it answered.`;
  if (TOO_LARGE.test(error.message)) return `${start} does not take a mail of this size.`;
  if (code === 'ETLS' && originalCode === undefined)
    return `${start} offers no encryption that could be used (STARTTLS), and a password is not sent without; write smtps:// if it listens for that, or name the host in allowHosts.`;
  return `${start} could not be reached (${reasonIn(error)}).`;
}

function reasonIn(error: SmtpError): string {
  const { originalCode } = error;
  if (originalCode === undefined) return reasonOfConnection(error);
  const reason = reasonOfConnection(Object.assign(new Error(error.message), { code: originalCode }));
  if (/ERR_SSL/.test(originalCode))
    return `${originalCode}: what answers there begins without TLS; write smtp:// in place of smtps://`;
  return reason.includes(EXTRA_CA) || !/CERT/.test(originalCode) ? reason : `${reason}; ${EXTRA_CA}`;
}

/** The command without its argument, which is an address. */
function stepOf(command: string): string {
  const [verb = ''] = /^(MAIL FROM|RCPT TO|DATA|EHLO|HELO|STARTTLS)/.exec(command) ?? [];
  const steps: Readonly<Record<string, string>> = {
    'MAIL FROM': 'the sender',
    'RCPT TO': 'the recipient',
    DATA: 'the mail',
  };
  return steps[verb] ?? (verb === '' ? 'the connection' : verb);
}

/** What a server could repeat: also as it is encoded for the login. */
function hiddenOf({ login }: Server): string[] {
  if (login === null) return [];
  const { user, pass } = login;
  const encoded = [pass, user, `\0${user}\0${pass}`].map((text) => Buffer.from(text).toString('base64'));
  return [pass, encodeURIComponent(pass), ...encoded];
}
