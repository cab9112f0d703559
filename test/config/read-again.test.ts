import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { addEnvFile } from '../../src/config/env-file.js';
import { loadConfig } from '../../src/config/load.js';
import { testFolder } from '../support/folder.js';

let cwd: string;
beforeEach(() => void (cwd = testFolder()));

const write = (name: string, text: string): void => writeFileSync(join(cwd, name), text);
const load = (env: Record<string, string> = {}) => loadConfig({ cwd, env, library: () => Promise.resolve({}) });
const importing = (from: string): string =>
  `import given from '${from}';\nexport default { workspaces: [{ name: 'a', baseUrl: 'http://h', token: given.token }] };`;
const token = async (env?: Record<string, string>) => (await load(env)).config.workspaces[0]!.token;

describe('read again: the configuration file', () => {
  const exported = (text: string): string => `export default { token: '${text}' };`;
  const required = (text: string): string => `module.exports = { token: '${text}' };`;
  const json = (text: string): string => JSON.stringify({ token: text });
  it.each([
    ['TypeScript', 'changefeed.config.ts', './token', 'token.ts', exported],
    ['a module', 'changefeed.config.mjs', './token.mjs', 'token.mjs', exported],
    ['a module of a package of modules', 'changefeed.config.js', './token.js', 'token.js', exported],
    ['a script', 'changefeed.config.ts', './token.cjs', 'token.cjs', required],
    ['JSON', 'changefeed.config.ts', './token.json', 'token.json', json],
  ])(
    'read again: a change in %s that the file imports is seen, and the import is listed',
    async (_, config, from, file, textOf) => {
      write('package.json', '{ "type": "module" }');
      write(config, importing(from));
      write(file, textOf('before'));
      expect(await token()).toBe('before');

      write(file, textOf('after'));

      expect(await token()).toBe('after');
      expect((await load()).files).toEqual([join(cwd, config), join(cwd, file)]);
    },
  );

  it('read again: a change in a file with top-level await is seen', async () => {
    const text = (value: string): string =>
      `const token = await Promise.resolve('${value}');\nexport default { workspaces: [{ name: 'a', baseUrl: 'http://h', token }] };`;
    write('changefeed.config.ts', text('before'));
    expect(await token()).toBe('before');
    write('changefeed.config.ts', text('after'));
    expect(await token()).toBe('after');
  });

  it('read again: every reading evaluates the file and its imports again, in modules of its own', async () => {
    write('state.ts', 'export const box = { opened: 0 };');
    write(
      'changefeed.config.ts',
      importing('./token').replace('import', `import { box } from './state';\nbox.opened += 1;\nimport`),
    );
    write('token.ts', `import { box } from './state';\nexport default { token: String(box.opened) + 'x' };`);
    expect(await token()).toBe('0x');
    expect(await token()).toBe('0x');
  });
});

describe('encodings', () => {
  const UTF_8 = (text: string): Buffer => Buffer.from(`\ufeff${text}`);
  const UTF_16 = (text: string): Buffer => Buffer.from(`\ufeff${text}`, 'utf16le');

  it.each([
    ['UTF-8', UTF_8],
    ['UTF-16', UTF_16],
  ])('encodings: .env and JSON with the byte order mark of %s are read', async (_, encode) => {
    const config = { workspaces: [{ name: 'a', baseUrl: 'http://h', token: '${CRM_TOKEN}' }] };
    writeFileSync(join(cwd, 'changefeed.config.json'), encode(JSON.stringify(config)));
    writeFileSync(join(cwd, '.env'), encode('CRM_TOKEN=first\nOTHER=1\n'));
    const env: Record<string, string> = {};
    addEnvFile(cwd, env);
    expect(env).toEqual({ CRM_TOKEN: 'first', OTHER: '1' });
    expect(await token(env)).toBe('first');
  });

  it('encodings: a configuration in code with a byte order mark is read', async () => {
    write('token.ts', `\ufeffexport default { token: 'first' };`);
    write('changefeed.config.ts', `\ufeff${importing('./token')}`);
    expect(await token()).toBe('first');
  });
});
