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
import { problemsIn } from '../../src/kit/schema/problem.js';
import { env as variable } from '../../src/kit/schema/env-variable.js';
import { testFolder } from '../support/folder.js';

const library = (): Promise<object> => Promise.resolve({ defineConfig, defineHandler, env: variable, webhook });

let cwd: string;
beforeEach(() => void (cwd = testFolder()));

interface Report {
  message: string;
  report: string;
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
  const report = configReport(error, 120) ?? '';
  const places = [...error.message.matchAll(/^ *((?:[\w./]+(?::\d+)+: )?[^:]*?)(?= of |: (?!\d+ problems))/gm)].map(
    ([, place = '']) => place,
  );
  return { message: error.message, report, places };
}

describe('problems of a configuration', () => {
  it('problems of a configuration: each unknown option is one, and words of other products name ours', () => {
    const options = {
      name: 'ops',
      url: 'https://h',
      secret: 'x',
      events: [],
      maxRetries: 3,
      debounce: '5s',
      timout: '5s',
    };
    let error: ChangefeedError | undefined;
    try {
      webhook(options);
    } catch (thrown) {
      error = thrown as ChangefeedError;
    }
    const found = problemsIn(error!).map(({ path, problem }) => [path.join('.'), problem.replace(/; allowed.*/s, '')]);
    expect(found.filter(([path]) => path !== 'secret')).toEqual([
      ['events', 'there is no such option (here it is "on")'],
      ['maxRetries', 'there is no such option (here it is "retry.attempts")'],
      ['debounce', 'there is no such option (here it is "settle")'],
      ['timout', 'there is no such option (did you mean "timeout"?)'],
    ]);
  });

  it('problems of a configuration: all at once, each with its path, those of factories with the file and line of the call', async () => {
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
  name: 'late', concurrency: 0,
  handle() {},
});
`,
    });
    expect(places.sort()).toEqual([
      'changefeed.config.ts:9: retry.attemps',
      'changefeed.config.ts:9: secret',
      'handlers/late.ts:4: concurrency',
      'workspaces[0].baseUrl',
      'workspaces[0].lists.people.interval',
      'workspaces[0].token',
    ]);
  });

  it('problems of a configuration: a wrong option does not hide a list that does not exist', async () => {
    const { places, message } = await problemsOf({
      'changefeed.config.json': `{ "workspaces": [{ "name": "a", "baseUrl": "https://x", "token": "t",
  "lists": { "peoples": { "interval": "5x" }, "todo": { "idle": "30s" }, "memo": { "intervall": "5s" } } }] }`,
    });
    expect(message).toContain('there is no such list (did you mean "people"?)');
    // Only the first has its place.
    expect(places).toEqual([
      'changefeed.config.json:2:27: workspaces[0].lists.peoples.interval',
      'workspaces[0].lists.todo.idle',
      'workspaces[0].lists.memo.intervall',
      'workspaces[0].lists.peoples',
    ]);
  });

  it('problems of a configuration: a variable that is not set is one problem', async () => {
    const { message, places } = await problemsOf({
      'changefeed.config.mjs': `import { env, webhook } from 'crm-changefeed';
const [url, secret] = [env('NOT_SET_URL'), env('NOT_SET_SECRET')];
env('NOT_SET_UNUSED');
export default {
  workspaces: [{ name: 'a', baseUrl: 'https://x', token: env('NOT_SET_TOKEN') }],
  subscriptions: [webhook({ name: 'ops', url, secret })],
};
`,
    });
    expect(places.sort()).toEqual([
      "changefeed.config.mjs:2: env('NOT_SET_URL')",
      "changefeed.config.mjs:3: env('NOT_SET_UNUSED')",
      'changefeed.config.mjs:6: secret',
      'workspaces[0].token',
    ]);
    for (const name of ['URL', 'SECRET', 'TOKEN', 'UNUSED'])
      expect(message.match(new RegExp(`NOT_SET_${name} is not set`, 'g'))).toHaveLength(1);
  });

  it('problems of a configuration: a frame shows the line and no text', async () => {
    const { message, report } = await problemsOf({
      'changefeed.config.json': `{ "workspaces": [
  { "name": "이 름", "baseUrl": "https://u:hidden-1@x", "token": "hidden-2 \\" hidden-3", "zone": 1 }
] }
`,
    });
    expect(message).not.toContain('hidden');
    expect(report).not.toContain('hidden');
    // A Korean letter takes two columns.
    expect(report).toContain(`
    1 | { "workspaces": [
  > 2 |   { "name": "•••", "baseUrl": "••••••••••••••••••••", "token": "••••••••••••••••••••", "zone": 1 }
      |     ^
`);
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

  it.each([
    [
      'changefeed.config.json',
      '{ "a": 1,\n  "b" "hidden" }',
      'changefeed.config.json:2:7: it cannot be read as JSON: colon expected. Correct the syntax there.',
      '  > 2 |   "•" "••••••" }\n      |       ^',
    ],
    [
      'changefeed.config.json',
      '{ "a": [1,\n  2, }',
      'changefeed.config.json:2:6: it cannot be read as JSON: value expected. Correct the syntax there.',
      '  > 2 |   2, }\n      |      ^',
    ],
    [
      'changefeed.config.json',
      '{ "token": hidden-1", "secret": "hidden 2 }\n',
      'changefeed.config.json:1:12: it cannot be read as JSON: invalid symbol. Correct the syntax there.',
      '  > 1 | { "token": ••••••••"••"••••••"••"•••••• 2 }',
    ],
    [
      'changefeed.config.ts',
      "const token = 'hidden';\nconst a: string = ;\n",
      'changefeed.config.ts:2:19: it has a syntax error: Unexpected token. Correct the syntax there.',
      undefined,
    ],
    [
      'changefeed.config.ts',
      '\nexport default { a: (null as any).b };',
      'changefeed.config.ts:2: running it failed: Cannot',
      undefined,
    ],
    ['changefeed.config.ts', `import 'not-installed-here';`, 'running it failed: Cannot find', undefined],
    ['changefeed.config.js', 'export const config = {};', 'it has no default export. Write: export default', undefined],
  ])(
    'problems of a configuration: %s that cannot be evaluated has its place, reason and lines',
    async (name, text, says, frame) => {
      const { message, report } = await problemsOf({ [name]: text });
      expect(message).toContain(says);
      expect(report.includes('hidden')).toBe(false);
      if (frame !== undefined) expect(report).toContain(`\n${frame}`);
    },
  );

  it('problems of a configuration: a syntax error in an imported file names that file', async () => {
    const { message } = await problemsOf({
      'changefeed.config.ts': "import './handlers/late.ts';\nexport default {};\n",
      'handlers/late.ts': 'export const late = {\n',
    });
    expect(message).toMatch(/^handlers\/late\.ts:2:1: it has a syntax error: /);
  });
});
