import { Writable } from 'node:stream';
import { stripVTControlCharacters } from 'node:util';
import { describe, expect, it } from 'vitest';
import { quietLog } from '../../src/service/process.js';
import { createLog, limitRepeats, logOnce, parseLogLevel } from '../../src/ops/log.js';
import { systemClock } from '../../src/kit/clock.js';
import type { Log } from '../../src/kit/log.js';

function sink(): { destination: Writable; text: () => string } {
  let text = '';
  const destination = new Writable({
    write(chunk: Buffer, _encoding, done) {
      text += chunk.toString();
      done();
    },
  });
  return { destination, text: () => text };
}

describe('log', () => {
  it('log: a line is JSON with the facts as fields', () => {
    const { destination, text } = sink();
    createLog({ destination }).child({ workspace: 'acme' }).info({ list: 'people', pages: 3 }, 'sweep complete');
    expect(JSON.parse(text())).toEqual({
      level: 'info',
      time: expect.stringMatching(/^\d{4}-.*Z$/) as string,
      workspace: 'acme',
      list: 'people',
      pages: 3,
      msg: 'sweep complete',
    });
  });

  it('log: secrets are redacted at every depth', () => {
    const { destination, text } = sink();
    const log = createLog({ destination });
    log.info({ token: 's3cret', headers: { authorization: 'Bearer s3cret' }, a: { b: { password: 's3cret' } } }, 'x');
    log.child({ secret: 's3cret' }).warn({ list: 'people' }, 'y');
    expect(text()).not.toContain('s3cret');
    expect(text()).toContain('[redacted]');
  });

  it('log: a kind of warning or error is logged once a second, its repeats at the debug level, and no line of a handler is held back', () => {
    const { destination, text } = sink();
    let ms = 0;
    const log = limitRepeats(createLog({ destination, level: 'debug' }), { ...systemClock, monotonic: () => ms });
    for (const list of ['people', 'memo']) for (const error of ['one', 'two']) log.warn({ list, error }, 'failed');
    log.error({ list: 'people' }, 'failed');
    ms = 1_000;
    log.warn({ list: 'people' }, 'failed');
    for (const n of [1, 2]) log.child({ event: n }).warn({}, 'from a handler');
    const lines = text()
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as { level: string; list?: string });
    expect(lines.map(({ level, list = '' }) => `${level} ${list}`)).toEqual([
      ...['warn people', 'debug people', 'warn memo', 'debug memo', 'error people', 'warn people', 'warn ', 'warn '],
    ]);
  });

  it('log: `pretty` gives readable lines', () => {
    const { destination, text } = sink();
    createLog({ destination, pretty: true }).info({ list: 'people', token: 's3cret' }, 'sweep complete');
    expect(text()).toMatch(/^\d\d:\d\d:\d\d INFO {2}sweep complete list=people token=\[redacted\]\n$/);
  });

  it('log: a readable line cannot control the terminal, and stays one line', () => {
    const { destination, text } = sink();
    const log = createLog({ destination, pretty: true, colour: true });
    log.warn(
      { found: 'a\u001b[2Jb\nc', cursor: 'x=1', counts: { rows: 2 } },
      'answered \u001b]0;title\u0007 twice\nor more',
    );
    const plain = stripVTControlCharacters(text());
    expect(text().replaceAll(/\u001b\[\d+m/g, '')).toBe(plain);
    expect(plain).toMatch(/ WARN {2}answered \]0;title twice or more /);
    expect(plain).toContain('cursor="x=1" counts={"rows":2}');
    expect(plain.trimEnd()).not.toContain('\n');
  });

  it('log: lines below the level are left out', () => {
    const { destination, text } = sink();
    createLog({ destination, level: 'warn' }).info({}, 'quiet');
    expect(text()).toBe('');
  });

  it('log: LOG_LEVEL sets the level, and an unknown level is refused', () => {
    expect([parseLogLevel(undefined), parseLogLevel(''), parseLogLevel('DEBUG')]).toEqual(['info', 'info', 'debug']);
    expect(() => parseLogLevel('loud')).toThrow('LOG_LEVEL: found "loud"; allowed: debug, info, warn, error, silent.');
  });
});

it('log: a terminal gets its lines through the function that fits them', () => {
  const lines: string[] = [];
  const log = quietLog({ env: { NO_COLOR: '1' }, interactive: true, err: (text) => lines.push(text) });
  log.warn({ list: 'people' }, 'a warning');
  expect(lines).toEqual([expect.stringMatching(/^\d\d:\d\d:\d\d WARN {2}a warning list=people$/)]);
});

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
