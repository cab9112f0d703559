/** Fetches the first page of a list with a client under test, and describes the expected errors. */
import { inspect } from 'node:util';
import { expect } from 'vitest';
import type { ClientUnderTest } from './api-client.js';
import type { Reply } from './api-server.js';

export const FIRST = { cursor: null, page: 1 };
export const PEOPLE: Reply = { body: { success: true, data: { peopleList: [{ id: 'a' }], nextCursor: 'next' } } };
export const failing = (code: string, facts: object = {}) =>
  expect.objectContaining({
    code,
    facts: expect.objectContaining({
      list: 'people',
      page: 1,
      words: expect.any(String) as string,
      ...facts,
    }) as object,
  }) as Error;

export const fetchFirst = ({ api }: ClientUnderTest) => api.fetchPage('people', FIRST);

export function shown(value: unknown): string {
  return inspect(value, { depth: null, showHidden: true, maxStringLength: null, maxArrayLength: null });
}
