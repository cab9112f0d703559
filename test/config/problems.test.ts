import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { loadConfig } from '../../src/config/load.js';
import { defineConfig } from '../../src/config/schema.js';
import type { ChangefeedError } from '../../src/errors.js';
import { defineHandler } from '../../src/handlers/define.js';
import { widthOf } from '../../src/cli/text.js';
import { webhook } from '../../src/handlers/webhook/webhook.js';
import { env as variable } from '../../src/schema-kit/env-variable.js';
import { pathIn, pathText } from '../../src/schema-kit/explain.js';

const library = (): Promise<object> => Promise.resolve({ defineConfig, defineHandler, env: variable, webhook });

/** How many characters of the line are in so many columns. */
function charactersIn(line: string, columns: number): number {
  let count = 0;
  while (widthOf(line.slice(0, count)) < columns) count += 1;
  return count;
}

let cwd: string;
beforeEach(() => {
  cwd = mkdtempSync(join(tmpdir(), 'changefeed-problems-'));
});
afterEach(() => rmSync(cwd, { recursive: true, force: true }));

interface Report {
  message: string;
  report: string;
  /** `file:line:column: path`, one for each problem. */
  places: string[];
}

async function problemsOf(files: Record<string, string>, env: Record<string, string> = {}): Promise<Report> {
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(cwd, name)), { recursive: true });
    writeFileSync(join(cwd, name), text);
  }
  const error = await loadConfig({ cwd, env, library }).then(
    () => new Error('it was loaded'),
    (thrown: unknown) => thrown as ChangefeedError,
  );
  const report = 'facts' in error ? String(error.facts['report']) : '';
  const places = [...error.message.matchAll(/([\w./]+:\d+:\d+: [^:]*?)(?= of |:)/g)].map(([, place = '']) => place);
  return { message: error.message, report, places };
}

describe('problems of a configuration', () => {
  it('problems of a configuration: all at once, each with its place, those of factories and other files included', async () => {
    const { places } = await problemsOf({
      'changefeed.config.ts': `import { defineConfig, env, webhook } from 'crm-changefeed';
import { late } from './handlers/late.js';

const people = { interval: '5x' };

export default defineConfig({
  workspaces: [{ name: 'acme', baseUrl: 'ftp://x', token: env('CF_TEST_UNSET'), lists: { people } }],
  subscriptions: [
    webhook({ name: 'ops', url: 'https://ops.example', secret: 'short', retry: { attemps: 3 } } as never),
    late,
  ],
});
`,
      'handlers/late.ts': `import { defineHandler } from 'crm-changefeed';

interface Unused { name: string }
export const late = defineHandler({
  name: 'late', on: ['crm.todo.overdu'],
  handle() {},
});
`,
    });
    expect(places.sort()).toEqual([
      'changefeed.config.ts:4:18: workspaces[0].lists.people.interval',
      'changefeed.config.ts:7:32: workspaces[0].baseUrl',
      'changefeed.config.ts:7:52: workspaces[0].token',
      'changefeed.config.ts:9:56: secret',
      'changefeed.config.ts:9:82: retry.attemps',
      'handlers/late.ts:5:22: on[0]',
    ]);
  });

  it('problems of a configuration: a frame shows the line and never a secret', async () => {
    const { message, report } = await problemsOf({
      'changefeed.config.mjs': `const apiToken = 'hidden-1 hidden-2';
export default {
  workspaces: [{ name: '이 름', baseUrl: 'https://u:hidden-3@x', token: apiToken }],
};
`,
    });
    expect(message).not.toContain('hidden');
    expect(report).not.toContain('hidden');
    expect(report).toContain(`
    1 | const apiToken = '•••••••••••••••••';
    2 | export default {
  > 3 |   workspaces: [{ name: '이 름', baseUrl: '••••••••••••••••••••', token: apiToken }],
      |                  ^
`);
    // The Korean name takes four columns, and so does the caret below what is behind it.
    expect(report).toContain(`\n      |                                 ^\n`);
  });

  it('problems of a configuration: a frame is as wide as the terminal, and shows the problem in a long line', async () => {
    const comment = (length: number): string => '가'.repeat(length);
    const report = async (columns: number | undefined, before: number): Promise<string[]> => {
      const text = `/* ${comment(before)} */ export default { workspaces: 1 }; // ${comment(90)}\n`;
      writeFileSync(join(cwd, 'changefeed.config.mjs'), text);
      const error = await loadConfig({ cwd, env: {}, library, columns }).catch((thrown: unknown) => thrown);
      return String((error as ChangefeedError).facts['report'])
        .split('\n')
        .slice(-2);
    };
    for (const [columns, width] of [
      [undefined, 108],
      [60, 60],
      [81, 81],
      [150, 150],
    ] as const)
      for (const before of [0, 30, 80]) {
        const [line = '', caret = ''] = await report(columns, before);
        expect(widthOf(line)).toBeLessThanOrEqual(width);
        expect(widthOf(line)).toBeGreaterThan(width - 3);
        expect(line.slice(charactersIn(line, caret.indexOf('^')))).toMatch(/^1 \}|^workspaces/);
      }
  });

  it('problems of a configuration: of JSON too, its variables included', async () => {
    const { places } = await problemsOf({
      'changefeed.config.json': `{ "$schema": "x", "workspaces": [
  { "name": "a b", "baseUrl": "https://x", "token": "\${CF_TEST_UNSET}" }
], "subscriptions": [{ "handler": "webhok", "name": "x" }, { "handler": "ndjson", "name": "x y" }] }`,
    });
    expect(places).toEqual([
      'changefeed.config.json:2:5: workspaces[0].name',
      'changefeed.config.json:2:44: workspaces[0].token',
      'changefeed.config.json:3:24: subscriptions[0].handler',
      'changefeed.config.json:3:83: subscriptions[1].name',
    ]);
  });

  it.each([
    ['changefeed.config.json', '{ "a": 1,\n  "b" 2 }', 'changefeed.config.json:2:7: it cannot be read as JSON'],
    ['changefeed.config.ts', 'const a: string = ;\n', 'changefeed.config.ts:1:19: it has a syntax error'],
    [
      'changefeed.config.ts',
      '\nexport default { a: (null as any).b };',
      'changefeed.config.ts:2: running it failed: Cannot',
    ],
  ])('problems of a configuration: %s that cannot be evaluated has its place', async (name, text, says) => {
    expect((await problemsOf({ [name]: text })).message).toContain(says);
  });

  it('problems of a configuration: what is not in the text is placed at what is nearest', async () => {
    const { places } = await problemsOf({
      'changefeed.config.mjs': `const make = () => [{ name: 'a b', baseUrl: 'https://x', token: 't' }];
export default {
  workspaces: make(),
};
`,
    });
    expect(places).toEqual(['changefeed.config.mjs:3:3: workspaces[0].name']);
  });

  it('problems of a configuration: the path is read back from a sentence', () => {
    for (const path of [['workspaces', 0, 'lists', '딜 목록', 'ignore', 2], ['a'], []])
      expect(pathIn(`${pathText(path)}: found nothing.`)).toEqual(path);
    expect(pathIn('subscriptions[0].on[1] of webhook "ops": found "x".')).toEqual(['subscriptions', 0, 'on', 1]);
    expect(pathIn('the configuration: found null.')).toEqual([]);
  });
});
