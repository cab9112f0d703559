/** Google's token endpoint, and `values.get` and `values.append` of a spreadsheet, as documented: one receiver for the checks of a kind. */
import { createVerify, generateKeyPairSync } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { KindReceiver } from '../../src/testing/kind.js';
import { httpReceiver, type HttpAnswer } from './kind-receivers.js';

const { publicKey, privateKey } = generateKeyPairSync('rsa', { modulusLength: 2_048 });
const PRIVATE_KEY = privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
const ACCOUNT = 'changefeed@acme.iam.gserviceaccount.com';
const TOKEN = 'ya29.a-token-of-google';
const SPREADSHEET = 'spreadsheet-1';

const json = (status: number, body: object): HttpAnswer => ({
  status,
  headers: { 'content-type': 'application/json' },
  body: JSON.stringify(body),
});
export const googleError = (code: number, status: string, message = 'as documented by Google'): HttpAnswer =>
  json(code, { error: { code, message, status } });

/** A signed assertion of the account for an access token of an hour: https://developers.google.com/identity/protocols/oauth2/service-account */
function signIn(body: string, origin: string): HttpAnswer {
  const form = new URLSearchParams(body);
  const [header = '', claims = '', signature = ''] = (form.get('assertion') ?? '').split('.');
  const read = (part: string) => JSON.parse(Buffer.from(part, 'base64url').toString('utf8')) as Record<string, unknown>;
  const { iss, scope, aud, iat, exp } = read(claims);
  const isValid =
    form.get('grant_type') === 'urn:ietf:params:oauth:grant-type:jwt-bearer' &&
    createVerify('RSA-SHA256').update(`${header}.${claims}`).verify(publicKey, signature, 'base64url') &&
    read(header)['alg'] === 'RS256' &&
    iss === ACCOUNT &&
    scope === 'https://www.googleapis.com/auth/spreadsheets' &&
    aud === `${origin}/token` &&
    Number(exp) - Number(iat) <= 3_600;
  if (!isValid) return json(400, { error: 'invalid_grant', error_description: 'Invalid JWT' });
  return json(200, { access_token: TOKEN, expires_in: 3_599, token_type: 'Bearer' });
}

/** @param refusal what it answers while it is `refusing` */
export async function sheetsReceiver(refusal = googleError(400, 'INVALID_ARGUMENT')): Promise<KindReceiver> {
  let origin = '';
  const values = `/v4/spreadsheets/${SPREADSHEET}/values/'It''s'!`;
  const isSignedIn = ({ headers }: IncomingMessage): boolean => headers.authorization === `Bearer ${TOKEN}`;
  return await httpReceiver({
    optionsAt(port) {
      origin = `http://127.0.0.1:${port}`;
      const account = { email: ACCOUNT, privateKey: PRIVATE_KEY };
      const at = { api: origin, tokens: `${origin}/token` };
      return { spreadsheet: SPREADSHEET, sheet: "It's", columns: ['이름'], account, ...at };
    },
    secrets: [PRIVATE_KEY.slice(60, 120)],
    read(request, body) {
      const { pathname, search } = new URL(request.url ?? '', origin);
      const isAppend = decodeURIComponent(pathname) === `${values}A1:append` && request.method === 'POST';
      if (!isAppend || !isSignedIn(request)) return undefined;
      if (search !== '?valueInputOption=RAW&insertDataOption=INSERT_ROWS') return undefined;
      const { values: rows } = JSON.parse(body) as { values: [string, ...unknown[]][] };
      return rows.map((row) => ({ id: row[0], content: row }));
    },
    answers: { refusing: refusal, limiting: googleError(429, 'RESOURCE_EXHAUSTED') },
    other(request, body, arrived) {
      if (request.url === '/token') return signIn(body, origin);
      if (!isSignedIn(request)) return googleError(401, 'UNAUTHENTICATED');
      if (decodeURIComponent(request.url ?? '') !== `${values}A:A`) return googleError(404, 'NOT_FOUND');
      return json(200, { range: 'A:A', majorDimension: 'ROWS', values: arrived.map(({ id }) => [id]) });
    },
  });
}
