import { expect, it } from 'vitest';
import { sayOnce } from '../../src/observability/say-once.js';
import type { Log } from '../../src/runtime/log.js';

it('says trouble of one kind once, whoever has it, and different trouble each', () => {
  const lines: string[] = [];
  const add = (facts: object, message: string): void => void lines.push(`${message} ${JSON.stringify(facts)}`);
  const log: Log = { debug: add, info: add, warn: add, error: add, child: () => log };
  const once = sayOnce(log);
  once.warn({ list: 'people', code: 'CF_UNAVAILABLE' }, 'page not read');
  once.child({}).warn({ list: 'todo', code: 'CF_UNAVAILABLE' }, 'page not read');
  once.warn({ list: 'todo', code: 'CF_RATE_LIMITED' }, 'page not read');
  once.error({ subscription: 'a' }, 'dead');
  once.error({ subscription: 'b' }, 'dead');
  once.error({ subscription: 'b' }, 'dead');
  once.info({}, 'as often as it likes');
  once.info({}, 'as often as it likes');
  expect(lines).toEqual([
    'page not read {"list":"people","code":"CF_UNAVAILABLE"}',
    'page not read {"list":"todo","code":"CF_RATE_LIMITED"}',
    'dead {"subscription":"a"}',
    'dead {"subscription":"b"}',
    'as often as it likes {}',
    'as often as it likes {}',
  ]);
});
