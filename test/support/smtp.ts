/** A real SMTP server on port 0, and what it has received. */
import { readFileSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { SMTPServer, type SMTPServerOptions } from 'smtp-server';
import { onTestFinished } from 'vitest';

export interface ReceivedMail {
  envelope: { from: string; to: string[] };
  headers: Record<string, string>;
  subject: string;
  text: string;
  html: string;
}

export interface SmtpServer {
  port: number;
  mails: ReceivedMail[];
  connections: () => number;
}

/** A refusal with a status of SMTP. */
export function refusal(responseCode: number, message: string): Error {
  return Object.assign(new Error(message), { responseCode });
}

export async function startSmtp(options: SMTPServerOptions = {}): Promise<SmtpServer> {
  const mails: ReceivedMail[] = [];
  let connections = 0;
  const server = new SMTPServer({
    ...{ authOptional: true, disabledCommands: ['STARTTLS'], logger: false, disableReverseLookup: true },
    onConnect(_, callback) {
      connections += 1;
      callback();
    },
    ...options,
    onData(stream, session, callback) {
      const parts: Buffer[] = [];
      stream.on('data', (part: Buffer) => parts.push(part));
      stream.on('end', () => {
        const { mailFrom, rcptTo } = session.envelope;
        const envelope = {
          from: mailFrom === false ? '' : mailFrom.address,
          to: rcptTo.map(({ address }) => address),
        };
        mails.push({ envelope, ...mailIn(Buffer.concat(parts).toString('utf8')) });
        callback();
      });
    },
  });
  server.on('error', () => undefined);
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  onTestFinished(async () => {
    await new Promise<void>((resolve) => {
      server.close(resolve);
    });
  });
  const { port } = server.server.address() as AddressInfo;
  return { port, mails, connections: () => connections };
}

export function tlsOf({ cert, key }: { cert: string; key: string }): { cert: Buffer; key: Buffer } {
  return { cert: readFileSync(cert), key: readFileSync(key) };
}

function mailIn(raw: string): Omit<ReceivedMail, 'envelope'> {
  const { headers, body } = partIn(raw);
  const [, boundary = ''] = /boundary="?([^";]+)"?/.exec(headers['content-type'] ?? '') ?? [];
  const parts = body
    .split(`--${boundary}`)
    .slice(1, -1)
    .map((part) => partIn(part.replace(/^\r\n|\r\n$/g, '')));
  const decoded = (type: string): string => {
    const part = parts.find(({ headers: own }) => own['content-type']?.startsWith(type));
    return part === undefined ? '' : decode(part.body, part.headers['content-transfer-encoding']);
  };
  return {
    headers,
    subject: decodeWords(headers['subject'] ?? ''),
    text: decoded('text/plain'),
    html: decoded('text/html'),
  };
}

function partIn(raw: string): { headers: Record<string, string>; body: string } {
  const at = raw.indexOf('\r\n\r\n');
  const lines = raw
    .slice(0, at)
    .replace(/\r\n[ \t]+/g, ' ')
    .split('\r\n');
  const headers = lines.map((line) => [line.split(':', 1)[0]?.toLowerCase(), line.replace(/^[^:]*:\s*/, '')] as const);
  return { headers: Object.fromEntries(headers) as Record<string, string>, body: raw.slice(at + 4) };
}

function decode(body: string, encoding = ''): string {
  if (encoding === 'base64') return Buffer.from(body, 'base64').toString('utf8');
  const text = encoding === 'quoted-printable' ? quotedPrintable(body.replace(/=\r\n/g, '')) : body;
  return text.replaceAll('\r\n', '\n');
}

function quotedPrintable(text: string): string {
  return Buffer.from(
    text.replace(/=([0-9A-F]{2})/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16))),
    'latin1',
  ).toString('utf8');
}

function decodeWords(text: string): string {
  return text
    .replace(/\?=\s+=\?/g, '?==?')
    .replace(/=\?utf-8\?([BQ])\?(.*?)\?=/gi, (_, kind: string, word: string) =>
      kind.toUpperCase() === 'B'
        ? Buffer.from(word, 'base64').toString('utf8')
        : quotedPrintable(word.replaceAll('_', ' ')),
    );
}
