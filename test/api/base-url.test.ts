import { expect, it } from 'vitest';
import { normaliseBaseUrl } from '../../src/api/base-url.js';

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
