import { expect, it } from 'vitest';
import { logOnce } from '../../src/observability/log-once.js';
import type { Log } from '../../src/runtime/log.js';

it('log once: each kind of warning or error is logged once, whichever child log reports it', () => {
  const lines: string[] = [];
  const add = (facts: object, message: string): void => void lines.push(`${message} ${JSON.stringify(facts)}`);
  const log: Log = { debug: add, info: add, warn: add, error: add, child: () => log };
  const once = logOnce(log);
  once.warn({ list: 'people', code: 'CF_UNAVAILABLE' }, 'page not read');
  once.child({}).warn({ list: 'todo', code: 'CF_UNAVAILABLE' }, 'page not read');
  once.warn({ list: 'todo', code: 'CF_RATE_LIMITED' }, 'page not read');
  once.error({ subscription: 'a' }, 'dead');
  once.error({ subscription: 'b' }, 'dead');
  once.error({ subscription: 'b' }, 'dead');
  once.info({}, 'not limited');
  once.info({}, 'not limited');
  expect(lines).toEqual([
    'page not read {"list":"people","code":"CF_UNAVAILABLE"}',
    'page not read {"list":"todo","code":"CF_RATE_LIMITED"}',
    'dead {"subscription":"a"}',
    'dead {"subscription":"b"}',
    'not limited {}',
    'not limited {}',
  ]);
});
