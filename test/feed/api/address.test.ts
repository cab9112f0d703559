import { expect, it } from 'vitest';
import { checkToken, parseBaseUrl } from '../../../src/feed/api/address.js';
import { normaliseBaseUrl } from '../../../src/kit/schema/addresses.js';

it.each([
  ['https://crm.example', null, 'https://crm.example/v2/people'],
  ['https://crm.example/', null, 'https://crm.example/v2/people'],
  ['https://crm.example/api', null, 'https://crm.example/api/v2/people'],
  [
    'http://127.0.0.1:8080/api//',
    'a b&c=d/+?é',
    'http://127.0.0.1:8080/api/v2/people?cursor=a%20b%26c%3Dd%2F%2B%3F%C3%A9',
  ],
])('base URL: %s and the cursor %j give the address of a page', (baseUrl, cursor, expected) => {
  const address = parseBaseUrl(baseUrl, 'acme');
  expect(address.origin + address.pathOf('people', cursor)).toBe(expected);
});

it.each([
  ['crm.example', 'not a URL'],
  ['ftp://crm.example', 'begins with ftp:'],
  ['https://user:pw-secret@crm.example', 'user name or password'],
  ['https://crm.example/api?key=pw-secret', 'query'],
  ['https://crm.example/?', 'query'],
  ['https://crm.example/#pw-secret', 'fragment'],
  ['https://crm.example/api/v2/', 'already ends in /v2'],
])('base URL: %s is refused without being shown: %s', (baseUrl, said) => {
  const thrown = expect.objectContaining({
    code: 'CF_CONFIG_INVALID',
    message: expect.stringMatching(new RegExp(`^(?!.*pw-secret).*${said}`)) as string,
  }) as Error;
  expect(() => parseBaseUrl(baseUrl, 'acme')).toThrow(thrown);
});

it.each([
  ['HTTPS://CRM.Example/Api', 'https://crm.example/Api'],
  ['https://crm.example:443/api/', 'https://crm.example/api'],
  ['http://crm.example:80', 'http://crm.example'],
  ['http://crm.example:443//', 'http://crm.example:443'],
  ['http://127.0.0.1:4010/crm', 'http://127.0.0.1:4010/crm'],
])('base URL: %s and %s are the same source', (url, normalised) => {
  expect(normaliseBaseUrl(url)).toBe(normalised);
  expect(normaliseBaseUrl(normalised)).toBe(normalised);
});

it('token: the line break at the end of a secret file is removed', () => {
  expect(checkToken('abc\n', 'acme')).toBe('abc');
});

it.each(['', '  ', 'Bearer abc', 'ab c', 'ab\r\nx: y', '토큰'])('token: %j is refused without being shown', (token) => {
  const thrown = expect.objectContaining({
    code: 'CF_CONFIG_INVALID',
    message: expect.not.stringMatching(/abc|ab c|x: y|토큰/) as string,
  }) as Error;
  expect(() => checkToken(token, 'acme')).toThrow(thrown);
});
