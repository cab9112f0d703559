import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { ERROR_CODES, describe as describeValue, messageOf } from '../../src/kit/errors.js';

it('error codes: the code and docs/errors.md have the same table', () => {
  const page = readFileSync(new URL('../../docs/errors.md', import.meta.url), 'utf8');
  const rows = [...page.matchAll(/^\| `(CF_\w+)` \| ([^|]+?) \|/gm)].map(([, code, meaning]) => [code, meaning]);
  expect(Object.fromEntries(rows)).toEqual(ERROR_CODES);
});

it('error messages: describe values by type and size, never by content', () => {
  const said = [null, undefined, 'secret', '', [1, 2], { a: 1 }, 7].map(describeValue);
  expect(said).toEqual([
    'null',
    'nothing',
    'a string of 6 characters',
    'an empty string',
    'an array of 2',
    'an object with 1 keys',
    'a number',
  ]);
  expect(messageOf({ token: 'secret' })).toBe('something that is not an error was thrown (an object with 1 keys)');
});
