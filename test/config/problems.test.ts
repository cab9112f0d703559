/** What a person sees of a configuration that is not valid: problems.txt has the report of each, with frames, and without any text of theirs. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { loadConfig } from '../../src/config/load.js';
import { defineConfig } from '../../src/config/schema.js';
import type { ChangefeedError } from '../../src/kit/errors.js';
import { defineHandler } from '../../src/delivery/handlers/define.js';
import { configReport } from '../../src/cli/program.js';
import { widthOf } from '../../src/cli/text.js';
import { webhook } from '../../src/delivery/handlers/webhook/webhook.js';
import { env as variable } from '../../src/kit/schema/env-variable.js';
import { testFolder } from '../support/folder.js';

const library = (): Promise<object> => Promise.resolve({ defineConfig, defineHandler, env: variable, webhook });

let cwd: string;
beforeEach(() => void (cwd = testFolder()));

const LATE = `import { defineHandler } from 'crm-changefeed';

interface Unused { name: string }
export const late = defineHandler({
  name: 'late', concurrency: 0,
  handle() {},
});
`;
const CASES: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  'words of other products, and unknown options': {
    'changefeed.config.mjs': `import { webhook } from 'crm-changefeed';
const more = { events: [], maxRetries: 3, debounce: '5s', timout: '5s' };
export default {
  workspaces: [{ name: 'a', baseUrl: 'https://x', token: 't' }],
  subscriptions: [webhook({ name: 'ops', url: 'https://h', secret: 'hidden', ...more })],
};
`,
  },
  'all at once, those of factories with the file and line of the call': {
    'changefeed.config.ts': `import { defineConfig, env, webhook } from 'crm-changefeed';
import { late } from './handlers/late.js';

const people = { interval: '5x' };

export default defineConfig({
  workspaces: [{ name: 'acme', baseUrl: 'ftp://x', token: env('CF_TEST_UNSET'), lists: { people } }],
  subscriptions: [
    webhook({ name: 'ops', url: 'https://ops.example', secret: 'hidden', retry: { attemps: 3 } } as never),
    late,
  ],
});
`,
    'handlers/late.ts': LATE,
  },
  'a wrong option does not hide a list that does not exist; only the first has its place': {
    'changefeed.config.json': `{ "workspaces": [{ "name": "a", "baseUrl": "https://x", "token": "t",
  "lists": { "peoples": { "interval": "5x" }, "todo": { "idle": "30s" }, "memo": { "intervall": "5s" } } }] }`,
  },
  'a variable that is not set is one problem': {
    'changefeed.config.mjs': `import { env, webhook } from 'crm-changefeed';
const [url, secret] = [env('NOT_SET_URL'), env('NOT_SET_SECRET')];
env('NOT_SET_UNUSED');
export default {
  workspaces: [{ name: 'a', baseUrl: 'https://x', token: env('NOT_SET_TOKEN') }],
  subscriptions: [webhook({ name: 'ops', url, secret })],
};
`,
  },
  'a frame shows the line and no text; a Korean letter takes two columns': {
    'changefeed.config.json': `{ "workspaces": [
  { "name": "이 름", "baseUrl": "https://u:hidden-1@x", "token": "hidden-2 \\" hidden-3", "zone": 1 }
] }
`,
  },
  'JSON without a colon': { 'changefeed.config.json': '{ "a": 1,\n  "b" "hidden" }' },
  'JSON without a value': { 'changefeed.config.json': '{ "a": [1,\n  2, }' },
  'JSON with a text that is not begun': { 'changefeed.config.json': '{ "token": hidden-1", "secret": "hidden 2 }\n' },
  'a syntax error': { 'changefeed.config.ts': "const token = 'hidden';\nconst a: string = ;\n" },
  'an error while it runs': { 'changefeed.config.ts': '\nexport default { a: (null as any).b };' },
  'an import that is not there': { 'changefeed.config.ts': `import 'not-installed-here';` },
  'no default export': { 'changefeed.config.js': 'export const config = {};' },
  'a syntax error in an imported file': {
    'changefeed.config.ts': "import './handlers/late.ts';\nexport default {};\n",
    'handlers/late.ts': 'export const late = {\n',
  },
};

describe('problems of a configuration', () => {
  it('problems of a configuration: each has its path, place, reason and lines (-u updates problems.txt)', async () => {
    const parts: string[] = [];
    for (const [what, files] of Object.entries(CASES)) {
      cwd = testFolder();
      for (const [name, text] of Object.entries(files)) {
        mkdirSync(dirname(join(cwd, name)), { recursive: true });
        writeFileSync(join(cwd, name), text);
      }
      const error = await loadConfig({ cwd, env: {}, library }).catch((thrown: unknown) => thrown as ChangefeedError);
      // What the engine says has words of its own in each version.
      const { message } = error as Error;
      expect(message).not.toContain('hidden');
      const report = (configReport(error, 120) ?? message).replace(/(running it failed: Cannot \w+).*/, '$1 …');
      parts.push(`# ${what}\n${report.replaceAll(/^ +$/gm, '')}\n`);
    }
    expect(parts.join('\n')).not.toContain('hidden');
    await expect(parts.join('\n')).toMatchFileSnapshot('./problems.txt');
  });

  it('problems of a configuration: a frame is as wide as the terminal; a problem beyond it has its column only', async () => {
    const text = `{ "${'가'.repeat(20)}": 1, "workspaces": 1, "${'나'.repeat(90)}": 1 }\n`;
    writeFileSync(join(cwd, 'changefeed.config.json'), text);
    const error = await loadConfig({ cwd, env: {}, library }).catch((thrown: unknown) => thrown as ChangefeedError);
    const frameIn = (columns?: number): string[] => {
      const lines = (configReport(error, columns) ?? '').split('\n');
      const at = lines.findIndex((line) => line.includes(': workspaces: ')) + 1;
      return lines.slice(at, at + 2);
    };
    for (const [columns, width] of [
      [undefined, 100],
      [81, 81],
      [150, 150],
    ] as const) {
      const [line = '', caret = ''] = frameIn(columns);
      expect(widthOf(line)).toBeLessThanOrEqual(width);
      expect(widthOf(line)).toBeGreaterThan(width - 3);
      expect(widthOf(line.slice(0, line.indexOf('"workspaces')))).toBe(caret.indexOf('^'));
    }
    expect(frameIn(50)[0]).not.toContain('|');
  });
});
