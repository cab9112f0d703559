/** The configurations in the pages for users are what the schema accepts, and their TypeScript compiles. */
import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { tmpdir } from 'node:os';
import { createJiti } from 'jiti';
import ts from 'typescript';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { loadConfig } from '../../src/config/load.js';
import * as library from '../../src/index.js';
import * as kinds from '../../src/testing/kind.js';
import { codeBlocksOf, pages, ROOT, type CodeBlock } from '../../.ci/docs/markdown.js';

const ENV = {
  PULL_TOKEN: 'a-token-of-a-consumer-7305918264',
  CRM_TOKEN: 'token',
  CHAT_URL: 'https://chat.example/hook',
  SMTP_URL: 'smtp://crm:password@smtp.acme.example:587',
  KAKAOWORK_APP_KEY: 'c0ffee00.0123456789abcdef',
  TASKS_URL: 'https://tasks.example/api',
  HOOK_SECRET: `whsec_${Buffer.alloc(32, 7).toString('base64')}`,
  DESK_KEY: 'a-secret-key',
  DATABASE_URL: 'postgres://db.example/crm',
};

const FOR_USERS = /^docs\/(getting-started|guides\/.*)\.md$/;
const blocks = pages()
  .filter((page) => FOR_USERS.test(page))
  .flatMap(codeBlocksOf);

const asConfig = ({ file = '', language, code }: CodeBlock): string | undefined => {
  if (file.startsWith('changefeed.config.')) return file;
  return language === 'json' && code.includes('"workspaces"') ? 'changefeed.config.json' : undefined;
};
const configs = blocks.flatMap((block, index) => {
  const name = asConfig(block);
  return name === undefined ? [] : [[`${block.page} #${index}`, name, block] as const];
});

/** The kind of the guide, and its test. */
const guide = blocks.filter(({ page, file }) => page === 'docs/guides/kinds.md' && file !== undefined);

describe('code in the pages', () => {
  let cwd: string;
  beforeEach(() => {
    cwd = mkdtempSync(join(tmpdir(), 'changefeed-docs-'));
    symlinkSync(`${ROOT}node_modules`, join(cwd, 'node_modules'));
    for (const { file = '', code } of guide) writeFileSync(join(cwd, file), code);
    Object.assign(process.env, ENV);
  });
  afterEach(() => {
    rmSync(cwd, { recursive: true, force: true });
    for (const name of Object.keys(ENV)) Reflect.deleteProperty(process.env, name);
  });

  it.each(configs)('code in the pages: %s, %s, is a configuration', async (_where, name, { code }) => {
    writeFileSync(join(cwd, 'package.json'), '{}');
    writeFileSync(join(cwd, name), code);
    const { config } = await loadConfig({ cwd, env: process.env });
    expect([...config.subscriptions, ...Object.keys(config.destinations)]).not.toEqual([]);
  });

  it('code in the pages: the kind of the guide passes the test of the guide', async () => {
    const tests: [name: string, run: () => Promise<void>][] = [];
    const vitest = { test: (...one: (typeof tests)[number]) => void tests.push(one) };
    const virtualModules = { vitest, 'crm-changefeed': library, 'crm-changefeed/testing/kind': kinds };
    const path = join(cwd, 'desk-kind.test.ts');
    await createJiti(path, { virtualModules, fsCache: false }).import(path);
    expect(tests).toHaveLength(15);
    for (const [, run] of tests) await run();
  });

  it('code in the pages: a wrong option is refused (control)', async () => {
    const [, , block] = configs.find(([, name]) => name.endsWith('.json'))!;
    writeFileSync(join(cwd, 'changefeed.config.json'), block.code.replace('"on"', '"onn"'));
    await expect(loadConfig({ cwd, env: process.env })).rejects.toThrow('onn');
  });

  it('code in the pages: every guide with a configuration is covered', () => {
    const covered = new Set(configs.map(([, , { page }]) => page));
    for (const name of ['automation', 'conditions', 'webhook', 'todos', 'postgres', 'operate'])
      expect(covered).toContain(`docs/guides/${name}.md`);
  });

  it('code in the pages: the TypeScript compiles', { timeout: 240_000 }, () => {
    const sources = new Map(
      configs
        .filter(([, name]) => name.endsWith('.ts'))
        .map(([, , { code }], index) => [`${ROOT}examples/page-${index}.ts`, code]),
    );
    for (const { file = '', code } of guide) sources.set(`${ROOT}examples/${file}`, code);
    expect(sources.size).toBeGreaterThan(6);
    const options: ts.CompilerOptions = {
      strict: true,
      noEmit: true,
      skipLibCheck: true,
      target: ts.ScriptTarget.ES2023,
      module: ts.ModuleKind.NodeNext,
      moduleResolution: ts.ModuleResolutionKind.NodeNext,
      types: ['node'],
      paths: {
        'crm-changefeed': [`${ROOT}src/index.ts`],
        'crm-changefeed/client': [`${ROOT}src/client/index.ts`],
        'crm-changefeed/testing/kind': [`${ROOT}src/testing/kind.ts`],
      },
    };
    const host = ts.createCompilerHost(options);
    const onDisk = ts.createCompilerHost(options);
    host.fileExists = (path) => sources.has(path) || onDisk.fileExists(path);
    host.readFile = (path) => sources.get(path) ?? onDisk.readFile(path);
    host.getSourceFile = (path, version, ...rest) => {
      const text = sources.get(path);
      return text === undefined
        ? onDisk.getSourceFile(path, version, ...rest)
        : ts.createSourceFile(path, text, ts.ScriptTarget.ES2023, true);
    };
    const program = ts.createProgram([...sources.keys()], options, host);
    const problems = [...sources.keys()].flatMap((path) => program.getSemanticDiagnostics(program.getSourceFile(path)));
    expect(problems.map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, '\n'))).toEqual([]);
  });
});
