// A kind of handler: every event as a row of a Google sheet. Run it as examples/kinds/changefeed.config.json does. Needs: npm install undici zod
//
// Share the spreadsheet with the address of a service account, and give its key. The first column is the event's id: an attempt after the first one
// looks for it, so that a row whose answer was lost is not appended again.
import { createSign } from 'node:crypto';
import { Agent, fetch, type RequestInit, type Response } from 'undici';
import { z } from 'zod';
import { defineKind, kindOptions, secret, type DeliveryFailure } from 'crm-changefeed';

const SCOPE = 'https://www.googleapis.com/auth/spreadsheets';
const JWT_BEARER = 'urn:ietf:params:oauth:grant-type:jwt-bearer';
/** Quotas are per minute: https://developers.google.com/workspace/sheets/api/limits */
const A_MINUTE = '60s';
/** Characters of a cell. */
const LONGEST_CELL = 50_000;

interface Token {
  access_token: string;
  expires_in: number;
}

/** An answer that is not 2xx. */
class Refused extends Error {
  readonly answer: { status: number; said: string; retryAfter: string | null };
  constructor({ status, headers }: Response, said: string) {
    super(`answered ${status}`);
    this.answer = { status, said, retryAfter: headers.get('retry-after') };
  }
}

export const googleSheets = defineKind({
  name: 'googleSheets',
  words: { en: 'Google sheet', ko: '구글 시트' },
  options: kindOptions({
    /** Of the address of the spreadsheet: `…/spreadsheets/d/<this>/edit`. */
    spreadsheet: z.string().regex(/^[\w-]{10,100}$/, { error: 'the id of a spreadsheet, as its address has it' }),
    /** The name of the sheet. @defaultValue 'Sheet1' */
    sheet: z.string().min(1, { error: 'the name of a sheet' }).default('Sheet1'),
    /** Fields of the record, one column each, after id, time, type and record. @defaultValue none */
    columns: z.array(z.string(), { error: 'an array of names of fields' }).default([]),
    /** Of the key of the service account, which is a file in JSON. */
    account: secret(
      z.strictObject(
        { email: z.email(), privateKey: z.string().startsWith('-----BEGIN') },
        { error: 'an object with email and privateKey' },
      ),
    ),
    /** Google's; another one in a test. */
    api: z.url({ error: 'a URL' }).default('https://sheets.googleapis.com'),
    tokens: z.url({ error: 'a URL' }).default('https://oauth2.googleapis.com/token'),
    // Its quota is 60 requests a minute for one account.
    concurrency: z.int().min(1).max(10).default(1),
  }),

  open({ name, spreadsheet, sheet, columns, account, api, tokens }) {
    const agent = new Agent();
    let token: { text: string; untilMs: number } | undefined;

    async function ask(url: string, options: RequestInit): Promise<unknown> {
      const response = await fetch(url, { ...options, dispatcher: agent });
      if (!response.ok) throw new Refused(response, await response.text());
      return await response.json();
    }

    async function signIn(signal: AbortSignal): Promise<string> {
      if (token !== undefined && token.untilMs > Date.now()) return token.text;
      const now = Math.floor(Date.now() / 1_000);
      const part = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url');
      const claims = { iss: account.email, scope: SCOPE, aud: tokens, iat: now, exp: now + 3_600 };
      const unsigned = `${part({ alg: 'RS256', typ: 'JWT' })}.${part(claims)}`;
      const signature = createSign('RSA-SHA256').update(unsigned).sign(account.privateKey, 'base64url');
      const body = new URLSearchParams({ grant_type: JWT_BEARER, assertion: `${unsigned}.${signature}` }).toString();
      const headers = { 'content-type': 'application/x-www-form-urlencoded' };
      const answer = (await ask(tokens, { method: 'POST', headers, body, signal })) as Token;
      token = { text: answer.access_token, untilMs: (now + answer.expires_in - 60) * 1_000 };
      return token.text;
    }

    async function call(path: string, signal: AbortSignal, body?: object): Promise<unknown> {
      const headers = { authorization: `Bearer ${await signIn(signal)}`, 'content-type': 'application/json' };
      const values = `${api}/v4/spreadsheets/${spreadsheet}/values/${path}`;
      return await ask(values, { headers, signal, ...(body && { method: 'POST', body: JSON.stringify(body) }) });
    }

    const range = (cells: string): string => encodeURIComponent(`'${sheet.replaceAll("'", "''")}'!${cells}`);

    async function hasRow(id: string, signal: AbortSignal): Promise<boolean> {
      const { values = [] } = (await call(range('A:A'), signal)) as { values?: string[][] };
      return values.some(([first]) => first === id);
    }

    return {
      async deliver(event, { signal, attempt, replay }) {
        if ((attempt > 1 || replay) && (await hasRow(event.id, signal))) return;
        const record = event.data.after ?? event.data.before;
        const row = [event.id, event.time, event.type, event.subject, ...columns.map((field) => cell(record?.[field]))];
        // RAW: what looks like a formula is text.
        const append = `${range('A1')}:append?valueInputOption=RAW&insertDataOption=INSERT_ROWS`;
        await call(append, signal, { majorDimension: 'ROWS', values: [row] });
      },
      failure(thrown) {
        if (thrown instanceof Refused && thrown.answer.status === 401) token = undefined;
        return failureOf(thrown, account.email);
      },
      async reach() {
        const refused = (error: unknown) => `GoogleSheets "${name}": ${failureOf(error, account.email).message}`;
        const problem = await call(range('A1'), AbortSignal.timeout(10_000)).then(() => null, refused);
        return {
          place: new URL(api).host,
          problem,
          remedy: `Share the spreadsheet with ${account.email} as an editor.`,
        };
      },
      close: () => agent.destroy(),
    };
  },
});

function cell(value: unknown): string | number | boolean {
  if (typeof value === 'number' || typeof value === 'boolean') return value;
  const text = typeof value === 'string' ? value : value === null || value === undefined ? '' : JSON.stringify(value);
  return text.slice(0, LONGEST_CELL);
}

function failureOf(thrown: unknown, account: string): DeliveryFailure {
  if (!(thrown instanceof Refused)) {
    const { cause, name } = thrown as Error;
    const { code = name } = Object(cause) as { code?: string };
    return { message: `Google could not be reached (${code}).` };
  }
  const { answer } = thrown;
  const { status } = answer;
  if (status === 400)
    return { ...answer, then: 'dead', message: 'the row was refused (400); compare sheet and columns.' };
  const share = `share it with ${account} as an editor, then resume`;
  if (status === 403 || status === 404)
    return { ...answer, then: 'pause', message: `no access to the spreadsheet (${status}); ${share}.` };
  if (status === 429)
    return { ...answer, retryAfter: answer.retryAfter ?? A_MINUTE, message: 'the quota of a minute is used up (429).' };
  return { ...answer, message: `Google answered ${status}.` };
}
