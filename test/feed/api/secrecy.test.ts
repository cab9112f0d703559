/** What may be shown of an answer: the server's words, without the token, without records. */
import { expect, it } from 'vitest';
import { createClientUnderTest, TOKEN } from '../../support/api-client.js';
import { startApiServer, type Reply } from '../../support/api-server.js';
import { PEOPLE, fetchFirst, shown } from '../../support/first-page.js';

const echoes: [string, (token: string) => Reply][] = [
  ['its reason', (token) => ({ status: 401, body: { success: false, message: `Bad token ${token}`, reason: token } })],
  [
    'words so long that the cut runs through it',
    (token) => ({ status: 403, body: { message: `${'x'.repeat(190)}${token}` } }),
  ],
  ['the title of an HTML page', (token) => ({ status: 500, body: `<title>Error ${token}</title>` })],
  [
    'the host of a redirect',
    (token) => ({ status: 302, headers: { location: `//${token.slice(0, 7)}.example/${token}` } }),
  ],
  ['a page that is no JSON', (token) => ({ body: token })],
  ['the names of fields', (token) => ({ body: { success: true, data: { [token]: [] } } })],
];

it.each(echoes)('token: is in no error or log line when the server sends it back in %s', async (_name, reply) => {
  const token = TOKEN;
  await using server = await startApiServer(() => reply(token));
  const client = createClientUnderTest(server);
  const error: unknown = await fetchFirst(client).catch((thrown: unknown) => thrown);
  const text = `${shown(error)} ${shown(client.logged)} ${shown(client.tried)}`;
  expect(error).toBeInstanceOf(Error);
  // Not even its beginning; `redact.test.ts` has its other forms.
  expect(text.toLowerCase()).not.toContain(token.slice(0, 9).toLowerCase());
});

it('token: is not in the cause chain of a foreign error', async () => {
  await using server = await startApiServer(() => PEOPLE);
  const cause = new AggregateError([new Error(`inner ${TOKEN}`)]);
  const budget = {
    take: () => Promise.reject(Object.assign(new Error(`no ${TOKEN}`, { cause }), { request: { token: TOKEN } })),
    pause: () => Promise.resolve(),
  };
  const error: unknown = await fetchFirst(createClientUnderTest({ ...server, budget })).catch((e: unknown) => e);
  expect(shown(error)).not.toContain(TOKEN);
  expect(shown(error)).toContain('no [token]');
});

it('token: the text around it stays in the message', async () => {
  await using server = await startApiServer(() => ({ status: 401, body: { message: `Token ${TOKEN} expired` } }));
  await expect(fetchFirst(createClientUnderTest(server))).rejects.toThrow(/Token \[token\] expired/);
});

it('server message: is shown without control characters and shortened', async () => {
  const message = `\u001b[31m${'길다 '.repeat(200)}`;
  await using server = await startApiServer(() => ({ status: 403, body: { message } }));
  const error = (await fetchFirst(createClientUnderTest(server)).catch((e: unknown) => e)) as {
    facts: { words: string };
  };
  expect(error.facts.words).toMatch(/^\[31m길다 길다.*…$/);
  expect(Array.from(error.facts.words)).toHaveLength(200);
});
