import { inspect } from 'node:util';
import { expect, it } from 'vitest';
import { createRedactor, redactError, redactLog } from '../../../src/feed/api/redact.js';
import type { Log } from '../../../src/kit/log.js';

const TOKEN = 'a+b/c"d=e';
const redact = createRedactor(TOKEN);

it.each([
  ['as it is', `x ${TOKEN} y`],
  ['in another case', TOKEN.toUpperCase()],
  ['encoded for a URL', encodeURIComponent(TOKEN)],
  ['escaped within JSON', JSON.stringify({ token: TOKEN })],
  ['in base64', Buffer.from(TOKEN).toString('base64')],
  ['after "Bearer", even cut short', 'authorization: bearer a+b'],
])('redaction: the token is hidden %s', (_name, text) => {
  expect(redact(text)).toContain('[token]');
  expect(redact(text).toLowerCase()).not.toMatch(/a\+b|a%2bb|ystil2mizd1l/);
});

it('redaction: other text stays unchanged', () => {
  expect(redact('list "people", page 4')).toBe('list "people", page 4');
});

it('redaction: a cyclic chain of causes ends', () => {
  const error = new Error(TOKEN);
  error.cause = error;
  expect(inspect(redactError(error, redact), { depth: null })).not.toContain(TOKEN);
});

it('redaction: the log of the client hides the token in messages, facts, nested facts and child logs', () => {
  const lines: unknown[] = [];
  const line = (facts: object, message: string): void => void lines.push(facts, message);
  const log: Log = { debug: line, info: line, warn: line, error: line, child: (facts) => (lines.push(facts), log) };
  const safe = redactLog(log, redact);
  for (const level of ['debug', 'info', 'warn', 'error'] as const) {
    safe.child({ [TOKEN]: TOKEN })[level]({ deep: [{ error: new Error(TOKEN) }], n: 1 }, `said ${TOKEN}`);
  }
  expect(lines).toHaveLength(12);
  expect(inspect(lines, { depth: null })).not.toContain(TOKEN);
  expect(lines[2]).toBe('said [token]');
});
